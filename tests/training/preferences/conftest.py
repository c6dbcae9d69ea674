"""A test set whose preferences are known, and metrics that give them."""

from typing import Any

import pytest

from annotation.models import Reference, TestSet
from metaeval.messages import message
from metrics import registry
from metrics.base import MetricError
from tests.metrics import fakes
from tests.world import World


class Speechless(fakes.Counting):
    """Cannot score one text, and says which."""

    def score(self, inputs: Any) -> Any:
        for index, each in enumerate(inputs):
            if each.hypothesis == "a b c":
                raise MetricError(
                    message("test.problem", "Speechless: no word for it."),
                    permanent=True,
                    index=index,
                )
        return super().score(inputs)


@pytest.fixture(autouse=True)
def _metrics(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> None:
    settings.TRAINED_DIR = tmp_path / "trained"
    fakes.Counting.seen.clear()
    for name, path, needs in (
        ("ordered", "tests.metrics.fakes:Ordered", False),
        ("compared", "tests.metrics.fakes:Ordered", True),
        ("speechless", f"{__name__}:Speechless", False),
    ):
        entry = fakes.make_info(name, needs_reference=needs), path
        monkeypatch.setitem(registry.METRICS, name, entry)


@pytest.fixture
def harbour(world: World) -> TestSet:
    """References in alphabetical order, one word, and one in the opposite order."""
    found = ["a b c d e f", "a b c d", "word", "c b a"]
    for reference, text in zip(Reference.objects.order_by("segment"), found, strict=True):
        reference.text = text
        reference.save()
    return world.test_set
