"""Score with neural metrics: encoders, families over their vectors, and trained models."""

from extensions.neural.encoding.import_stubs import skip_scikit_learn

skip_scikit_learn()
