"""Computed documents: requested by pages, computed by workers, stored until data change."""
