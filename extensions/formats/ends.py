"""Find out whether the ends of errors marked beforehand name their last character."""

from collections.abc import Callable

from django.utils.translation import gettext_lazy as _

from annotation.uploads.problems import Place, Report
from metaeval.messages import message
from metaeval.spans.span_table import EndsAtWords

INCLUDED, EXCLUDED = "included", "excluded"
CHOICES = (
    ("", _("inferred from the words of the texts")),
    (INCLUDED, _("the last character (as the tool writes them)")),
    (EXCLUDED, _("the position after it (lists made elsewhere)")),
)


def ends_are_included(
    count: Callable[[], EndsAtWords], stated: str, report: Report, place: Place
) -> bool:
    """Return whether ends are included: as stated, else as most words suggest, else ask."""
    if stated:
        return stated != EXCLUDED
    words = count()
    counts = {"included": words.included, "excluded": words.excluded, "n": words.n}
    if words.n and words.are_included is None:
        refusal = message(
            "ends.unclear",
            "State whether the ends of errors marked beforehand name the last character "
            "({included} of {n} then end with a word) or the position after it ({excluded} of "
            "{n}).",
            **counts,
        )
        report.error(refusal, place)
    elif words.n:
        text = (
            message(
                "ends.read-as-included",
                "The ends of errors marked beforehand were read as the last character: {included} "
                "of {n} then end with a word, and {excluded} if ends are the position after it.",
                **counts,
            )
            if words.are_included
            else message(
                "ends.read-as-excluded",
                "The ends of errors marked beforehand were read as the position after the last "
                "character: {excluded} of {n} then end with a word, and {included} if ends are the "
                "last character.",
                **counts,
            )
        )
        report.warn(text, place)
    return words.are_included is not False
