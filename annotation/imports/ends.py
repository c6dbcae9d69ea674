"""Whether the ends of errors marked beforehand name their last character, and who says so."""

from collections.abc import Callable

from annotation.uploads.problems import Place, Report
from metaeval.spans.ends import EndsAtWords

INCLUDED, EXCLUDED = "included", "excluded"
CHOICES = (
    ("", "as the words of the texts say"),
    (INCLUDED, "the last character (the tool’s own)"),
    (EXCLUDED, "the place behind it (lists made elsewhere)"),
)
ASK = (
    "say whether the ends of errors marked beforehand name their last character ({included:,} of "
    "{n:,} then end with a word) or the place behind it ({excluded:,})"
)
READ = (
    "ends of errors marked beforehand are read as {read}: {included:,} of {n:,} end with a word if "
    "they name the last character, {excluded:,} if the place behind it"
)


def settle_ends(told: Callable[[], EndsAtWords], said: str, report: Report, place: Place) -> bool:
    """Return whether ends are included: as was said, else as the words say, else it is asked."""
    if said:
        return said != EXCLUDED
    words = told()
    counts = {"included": words.included, "excluded": words.excluded, "n": words.n}
    if words.n and words.are_included is None:
        report.error(ASK.format(**counts), place)
    elif words.n:
        read = "the last character" if words.are_included else "the place behind the last character"
        report.warn(READ.format(read=read, **counts), place)
    return words.are_included is not False
