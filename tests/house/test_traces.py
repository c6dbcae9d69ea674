"""The traces in docs/architecture.md: at most ten modules, and each is called."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from django.test import Client
from django.urls import reverse

from metrics.models import SegmentScore
from tests.dashboards.conftest import make_rated
from tests.world import World

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def listed(beginning: str) -> list[str]:
    """The modules of the numbered list after a sentence."""
    _, _, rest = TEXT.partition(f"\n{beginning}")
    numbered = re.findall(r"^(\d+)\. `([\w.]+)`", rest, re.MULTILINE)
    end = next((n for n in range(1, len(numbered)) if numbered[n][0] == "1"), len(numbered))
    return [f"{module.replace('.', '/')}.py" for _, module in numbered[:end]]


@contextmanager
def called() -> Iterator[set[str]]:
    """The modules of which a function is called."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        # Bodies of modules and classes run where they are imported.
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            found.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def check(beginning: str, found: set[str]) -> None:
    wanted = listed(beginning)
    assert 5 < len(wanted) <= 10
    assert [module for module in wanted if module not in found] == []


@pytest.mark.django_db
def test_one_score(
    world: World,
    as_researcher: Client,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    address = reverse("run-start", args=[world.test_set.slug])
    systems = list(world.test_set.systems.values_list("pk", flat=True))
    with called() as found, django_capture_on_commit_callbacks(execute=True):
        as_researcher.post(address, {"metrics": ["chrf"], "systems": systems})
    assert SegmentScore.objects.filter(signature__metric="chrf").exists()
    check("One score,", found)


def test_one_tau(as_researcher: Client) -> None:
    address = reverse("correlations", args=[make_rated().slug])
    with called() as found:
        page = as_researcher.get(address)
    assert "chrF" in page.text
    check("One τ, from the stored judgment", found)
