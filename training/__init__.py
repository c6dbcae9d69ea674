"""Parallel text in, metrics out: jobs that fit projections and train metrics."""

# Importing it keeps scikit-learn out of every process that loads transformers.
import extensions.neural  # noqa: F401
