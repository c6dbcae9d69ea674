"""Neural metrics: encoders, and families that score with their vectors or with trained models."""

from extensions.neural.encoding.sparing import spare

spare()
