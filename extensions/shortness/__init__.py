"""The page on whether metrics penalise shortness more than humans do."""
