"""Neural metrics on a GPU: cases, checkpoints, official packages, one child a case, the table."""
