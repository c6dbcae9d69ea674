"""Test sets and judgments in and out, claims put back, translations: one command a file."""
