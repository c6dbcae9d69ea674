"""Compute word mover's distance over static word vectors."""
