"""Tests of neural metrics, against other implementations with small models."""
