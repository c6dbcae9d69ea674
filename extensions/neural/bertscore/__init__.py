"""BERTScore: every layer, precision, recall and F1, from one encoder pass."""
