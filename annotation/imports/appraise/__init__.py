"""Campaigns of Appraise: batches, manifest and exported scores, read as they are."""

from annotation.imports.appraise.batches import AS_TARGET, LEFT_OUT, UNMATCHED
from annotation.imports.appraise.doubts import CODE
from annotation.imports.appraise.read import read

__all__ = ["AS_TARGET", "CODE", "LEFT_OUT", "UNMATCHED", "read"]
