"""Decoding to a wanted length with any checkpoint that has a decoder."""
