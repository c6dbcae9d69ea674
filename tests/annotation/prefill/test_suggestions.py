"""What is shown of suggestions under each condition, and what became of each."""

import pytest

from annotation.models import SuggestionFate
from annotation.prefill.suggestions import fate_of, fates, judged, marked, offered
from annotation.protocols import Span

STORED = {
    "spans": [
        ["target", 8, 12, "minor", "", ""],
        ["target", 2, 5, "major", "", "planted"],
        ["target", 0, 1, "minor", "", "withheld"],
    ],
    "known": ["target", 0, 1],
}


def starts(condition: str) -> list[int]:
    return [each.span.start for each in offered(STORED, condition)]


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("", [0, 8]),
        ("blank", []),
        ("prefilled", [0, 8]),
        ("planted", [0, 2, 8]),
        ("withheld", [8]),
    ],
)
def test_each_condition_shows_its_own(condition: str, wanted: list[int]) -> None:
    assert starts(condition) == wanted
    assert offered(None, condition) == ()


@pytest.mark.parametrize(
    ("left", "fate"),
    [
        (None, "deleted"),
        (Span("target", 2, 5, "minor", "style"), "kept"),
        (Span("target", 2, 6, "major", "style"), "moved"),
        (Span("source", 2, 5, "minor", "style"), "moved"),
        (Span("target", 2, 5, "major", "other"), "severity"),
        (Span("target", 2, 5, "minor", "other"), "category"),
    ],
)
def test_fates_follow_from_what_was_shown(left: Span | None, fate: str) -> None:
    assert fate_of(Span("target", 2, 5, "minor", "style"), left) == fate


def test_what_is_left_of_planted_errors_is_nobodys_judgment() -> None:
    """Moved, of another severity or as it was: it is put together again for its annotator alone."""
    shown = offered(STORED, "planted")
    spans = (
        Span("target", 8, 12, "major"),
        Span("target", 2, 9, "minor"),
        Span("target", 4, 5, "minor"),
    )
    offers = (2, 1, None)
    found = fates(shown, spans, offers)
    assert [(each.origin, each.fate) for each in found] == [
        ("suggested", "deleted"), ("planted", "moved"), ("suggested", "severity")
    ]  # fmt: skip
    own = judged(shown, spans, offers)
    assert own == (spans[0], spans[2])
    assert marked(own, found) == [(spans[1], 1), (spans[2], None), (spans[0], 2)]
    assert SuggestionFate.Fate.DELETED not in {str(span) for span, _ in marked(own, found)}
