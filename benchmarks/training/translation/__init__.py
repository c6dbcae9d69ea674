"""Translation to a wanted length: what controls keep, what decoding and extraction cost."""
