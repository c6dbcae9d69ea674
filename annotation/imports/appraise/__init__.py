"""Campaigns of Appraise: batches, manifest and exported scores, read as they are."""

from annotation.imports.appraise.read import read

__all__ = ["read"]
