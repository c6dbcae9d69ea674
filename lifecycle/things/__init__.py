"""A declaration for each kind of thing: who owns it, what goes with it, what keeps it."""

from typing import Any

from lifecycle.things.campaigns import Campaigns
from lifecycle.things.kind import Kind
from lifecycle.things.scores import Imports, Metrics, Runs
from lifecycle.things.test_sets import Systems, TestSets
from lifecycle.things.training import Corpora, Jobs, Translations

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        Campaigns(),
        TestSets(),
        Systems(),
        Metrics(),
        Imports(),
        Runs(),
        Corpora(),
        Jobs(),
        Translations(),
    )
}

__all__ = ["KINDS", "Kind"]
