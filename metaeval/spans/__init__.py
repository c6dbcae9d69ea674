"""Error spans against error spans: what metrics find of what people marked."""

from metaeval.spans.coverage import agreed_spans
from metaeval.spans.detection import (
    Detection,
    ceiling,
    compare_detectors,
    detect,
    everything,
    nothing,
)
from metaeval.spans.error_free import error_free_detection, is_error_free
from metaeval.spans.measures import CHARACTERS, MPP, SpanMeasure, compare_spans
from metaeval.spans.span_table import SpanTable, ends_at_words

__all__ = [
    "CHARACTERS",
    "MPP",
    "Detection",
    "SpanMeasure",
    "SpanTable",
    "agreed_spans",
    "ceiling",
    "compare_detectors",
    "compare_spans",
    "detect",
    "ends_at_words",
    "error_free_detection",
    "everything",
    "is_error_free",
    "nothing",
]
__dir__ = __all__.copy
