"""Nothing but the texts tells an annotator what is on a screen: a guesser stays at chance.

In all kinds of modes and protocols three people rate a campaign to its end. A guesser that knows
some of the items tries to tell of the others, from all that came with them but the texts, whether
an item is a control, whose output it is, and whether somebody else, or everybody else, had rated
it.
"""

from dataclasses import replace
from typing import Any

import pytest

from annotation.judging import progress
from annotation.judging.progress import Progress
from annotation.models import Item
from annotation.protocols import PROTOCOLS, Layout
from tests.annotation.blindness.guessing import Guesses, Look, guess
from tests.annotation.blindness.reading import EARLY, LATE
from tests.annotation.blindness.worlds import (
    DA,
    PER_ITEM,
    WORLDS,
    Clock,
    Mode,
    Shown,
    make_blind_campaign,
    rate_everything,
)

# In one world of each mode people look at everything that they can.
THOROUGH = (DA, "esa", "mqm")


def guesses(screens: list[Shown]) -> dict[str, Guesses]:
    """What a guesser that learns from some items finds out of the others."""
    real = [shown for shown in screens if shown.head.kind != Item.Kind.TUTORIAL]
    targets = [shown for shown in real if not shown.is_control]
    systems = sorted({shown.first_system for shown in targets})
    # That a campaign fills up in time is no secret: most is rated by somebody in the end.
    timeless = [replace(shown, tokens=_less_time(shown.tokens)) for shown in targets]
    return {
        "control": _guess(real, [shown.is_control for shown in real]),
        "system": _guess(targets, [shown.first_system == systems[0] for shown in targets]),
        "rated": _guess(timeless, [shown.n_others > 0 for shown in timeless]),
        "rated by all": _guess(timeless, [shown.n_others == PER_ITEM - 1 for shown in timeless]),
    }


def _less_time(tokens: set[str]) -> set[str]:
    return {token for token in tokens if not token.endswith((EARLY, LATE))}


def _guess(screens: list[Shown], labels: list[bool]) -> Guesses:
    return guess(
        [
            Look(shown.head.pk, label, shown.tokens)
            for shown, label in zip(screens, labels, strict=True)
        ]
    )


def test_every_mode_and_every_grid_and_way_of_scoring_has_a_world() -> None:
    """What decides over orders and controls; presets that differ in words alone tell no more."""
    assert {mode for mode, _, _ in WORLDS} == set(Mode.values)
    worlds = [PROTOCOLS[protocol] for _, protocol, _ in WORLDS]
    assert {protocol.layout for protocol in worlds} == set(Layout)
    assert {protocol.has_score for protocol in worlds} == {True, False}


@pytest.mark.parametrize(("mode", "protocol", "limit"), WORLDS)
def test_nothing_but_texts_tells(
    db: None, clock: Clock, mode: str, protocol: str, limit: int
) -> None:
    campaign = make_blind_campaign(protocol, mode, limit=limit)
    screens = rate_everything(campaign, clock, is_thorough=protocol in THOROUGH)
    found = guesses(screens)
    assert {what: str(each) for what, each in found.items() if not each.is_chance} == {}


def estimated(annotator: Any, row: Any, *, place: int, is_ahead: bool) -> Progress:
    """A total of what was given and of what a pool has besides, counted once for a while."""
    screens = annotator.campaign.items.filter(kind=Item.Kind.TARGET).count()
    mine = annotator.assignments.filter(item__wanted__gt=0).count()
    return Progress(
        place,
        (row["n_all"] or 0) - (row["n_open"] or 0),
        annotator.assignments.count() + screens - mine,
        0,
    )


def test_an_estimated_total_would_be_found(
    db: None, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_progress", estimated)
    campaign = make_blind_campaign(DA, Mode.POOL)
    found = guesses(rate_everything(campaign, clock, is_thorough=False))
    # Controls are harder to guess from it; how hard depends on keys that others used up.
    assert found["control"].pvalue < 0.01
    assert not found["rated by all"].is_chance
    assert found["system"].is_chance
