"""Judges: metrics that ask a language model, their endpoints, templates, replies and costs."""
