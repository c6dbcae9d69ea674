"""Compute word mover's scores from token vectors, and XMoverScore over them."""
