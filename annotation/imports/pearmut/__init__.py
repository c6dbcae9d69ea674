"""Campaigns of Pearmut, read as they are."""

from annotation.imports.pearmut.read import read

__all__ = ["read"]
