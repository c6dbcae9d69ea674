"""Test every metric against every other."""
