"""Which judgments an output rests on: the reader's choice, in the address of every output.

`choice` reads it, `chosen` applies it to arrays and `rows` to rows of the database, `form` offers
it. `annotation.web.parameters` refuses what an output does not take.
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
