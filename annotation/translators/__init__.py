"""Who translated: which systems of a test set are human translations, and who says so."""
