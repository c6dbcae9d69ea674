"""Neural metrics: encoders, and families that score with their vectors or with trained models."""

from extensions.neural.encoding.import_stubs import skip_scikit_learn

skip_scikit_learn()
