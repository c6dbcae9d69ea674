"""Turn documents of pages into LaTeX tables for papers, with pure functions."""
