"""Transformers in Marian's format, their vocabulary, and how the wanted length reaches them."""
