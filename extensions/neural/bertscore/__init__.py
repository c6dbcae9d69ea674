"""Compute BERTScore: precision, recall and F1 of every layer from one encoder pass."""
