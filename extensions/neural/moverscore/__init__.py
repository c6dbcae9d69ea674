"""MoverScore: word mover distance between output and reference."""
