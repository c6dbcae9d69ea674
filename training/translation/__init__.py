"""Translation to a wanted length: models that are trained for it, and decoding without it."""
