"""Shorter sentences by extraction: words of a sentence, in its order, that a search finds."""
