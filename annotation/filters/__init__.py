"""The reader's choice of judgments, kept in the address of every page and file.

`choice` reads it, `chosen` applies it to arrays, `rows` applies it to database rows, and `form`
offers it. `annotation.web.parameters` refuses parameters that a page does not take.
"""

from annotation.filters.choice import (
    EVERYTHING,
    IN,
    OUT,
    RAW,
    SEGMENTS,
    USUAL,
    FilterError,
    Filters,
    Z,
)

__all__ = ["EVERYTHING", "IN", "OUT", "RAW", "SEGMENTS", "USUAL", "FilterError", "Filters", "Z"]
