"""Results say beside a metric how many of the outputs that they rest on it truncated."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from metrics import truncation
from metrics.models import SegmentScore
from tests.dashboards.scatter.test_scatter import campaign  # noqa: F401  the same rated campaign

SLUG = "harbour-80"


@pytest.fixture
def _limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """TER of a model with a limit, which truncated three of eight outputs."""
    scores = SegmentScore.objects.filter(signature__metric="ter").order_by("pk")
    SegmentScore.objects.filter(pk__in=list(scores.values_list("pk", flat=True)[:3])).update(
        is_truncated=True
    )
    SegmentScore.objects.filter(pk=scores.last().pk).update(is_truncated=None)  # type: ignore[union-attr]
    monkeypatch.setattr(truncation, "is_unlimited", lambda info: info.name != "ter")


PAGES = [("correlations", []), ("correlations-data", ["json"]), ("systems", []),
         ("report-file", ["html"]), ("report-file", ["json"])]  # fmt: skip


@pytest.mark.usefixtures("campaign", "_limited")
@pytest.mark.parametrize(("page", "given"), PAGES)
def test_results_say_so(as_researcher: Client, page: str, given: list[str]) -> None:
    text = as_researcher.get(reverse(page, args=[SLUG, *given])).text
    assert re.search(r"TER[^.<]* 3 of 8 outputs|3 of 8 outputs[^.<]*TER", text)
    assert re.search(r"TER[^.<]* 1 of 8 outputs|1 of 8 outputs[^.<]*TER", text)
    assert not re.search(r"chrF[^.<]* of 8 outputs|of 8 outputs[^.<]*chrF", text)
