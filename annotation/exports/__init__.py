"""Judgments out, as streams: tidy tables, mt-metrics-eval, and the formats of extensions."""

from annotation.exports.formats import FORMATS, Format
from annotation.exports.judgments import JUDGMENT_HEADER, judgment_rows, judgments_response
from annotation.exports.tables import csv_lines, csv_response, table_response

__all__ = [
    "FORMATS",
    "JUDGMENT_HEADER",
    "Format",
    "csv_lines",
    "csv_response",
    "judgment_rows",
    "judgments_response",
    "table_response",
]
