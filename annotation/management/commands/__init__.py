"""Test sets and judgments in and out, claims put back, translations: one command per file."""
