"""Annotators' pages, uploads and imports, against what came before or other programs."""
