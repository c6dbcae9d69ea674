"""Judgments are collected: test sets in, campaigns set up, screens answered, quality watched."""
