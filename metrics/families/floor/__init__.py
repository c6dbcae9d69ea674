"""Baselines, which do not depend on the quality of a translation."""
