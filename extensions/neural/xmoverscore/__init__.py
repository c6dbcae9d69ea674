"""Compute XMoverScore: mapped word mover's distance of source and output, with an LM term."""
