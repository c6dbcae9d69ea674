"""XMoverScore: word mover distance between source and output, re-mapped, with an LM term."""
