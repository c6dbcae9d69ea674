"""Projections of an encoder's source side, fitted to word or sentence pairs of parallel text."""
