"""Read tables of judgments and convert their rows to drafts."""

from annotation.imports.judgments.fields import FIELDS
from annotation.imports.judgments.options import Options, read_options
from annotation.imports.judgments.read import Reading, read

__all__ = ["FIELDS", "Options", "Reading", "read", "read_options"]
