"""Metrics that judge no translation: what any metric has to beat."""
