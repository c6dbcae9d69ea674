"""Computed documents: asked for by pages, computed by workers, kept while they hold."""
