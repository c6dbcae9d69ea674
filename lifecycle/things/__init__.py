"""A declaration for each kind of thing: who owns it, what goes with it, what keeps it."""

from typing import Any

from core import extensions
from lifecycle.things.campaigns import Campaigns
from lifecycle.things.kind import Kind
from lifecycle.things.scores import Imports, Metrics, Runs
from lifecycle.things.test_sets import Systems, TestSets

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        Campaigns(),
        TestSets(),
        Systems(),
        Metrics(),
        Imports(),
        Runs(),
        *(each for types in extensions.imported("types") for each in types),
    )
}

__all__ = ["KINDS", "Kind"]
