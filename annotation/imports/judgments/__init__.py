"""Read tables of judgments and convert their rows to drafts."""

from annotation.imports.judgments.fields import FIELDS
from annotation.imports.judgments.options import Options, read_options
from annotation.imports.judgments.read import Reading, Understood, read

__all__ = ["FIELDS", "Options", "Reading", "Understood", "read", "read_options"]
