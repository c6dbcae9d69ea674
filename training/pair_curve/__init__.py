"""XMoverScore's correlation with humans by the number of sentence pairs fitted to."""
