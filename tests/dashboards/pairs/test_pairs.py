"""Two systems, two metrics: numbers, answers, refusals and pages."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign, Output
from dashboards.pairs import two_metrics as metrics
from dashboards.pairs import two_systems as systems
from dashboards.pairs.document import (
    FEW,
    FIRST,
    OUTPUT_PAIRS,
    SECOND,
    SEGMENTS,
    Pair,
    Part,
    Side,
    answer,
    ties_note,
)
from dashboards.panel.panel import read_panel
from dashboards.trust.marks import REFUSED
from metaeval.messages import Message
from metrics import imported
from tests.dashboards.conftest import make_rated
from tests.refusals import has, tells
from tests.shared import SharedRows
from tests.world import World, make_user


@pytest.fixture(scope="module")
def rated_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(lambda: make_rated(segments=24)) as made:
        yield made.pk


@pytest.fixture
def as_researcher(client: Client, world: World) -> Client:
    client.force_login(make_user("reader", "researcher"))
    return client


def test_two_systems_are_compared_over_the_segments_of_both(rated: Campaign) -> None:
    found = systems.compute(rated, systems.SystemsPair(first="weak", second="strong"))
    panel = read_panel(rated, Filters())
    names = panel.human.names
    gaps = panel.human.values[names.index("weak")] - panel.human.values[names.index("strong")]
    assert found.wins is not None
    assert found.difference is not None
    assert found.n == 24
    assert found.wins.count == int((gaps > 0).sum())
    assert found.difference.share == pytest.approx(gaps.mean())
    ahead = [row for row in found.rows if row.side == FIRST]
    assert [row.gap for row in ahead] == sorted((g for g in gaps.tolist() if g > 0), reverse=True)[
        :15
    ]
    for row in found.rows:
        one, other = Output.objects.get(pk=row.output), Output.objects.get(pk=row.other)
        assert (one.system.name, other.system.name) == ("weak", "strong")
        assert one.segment.key == other.segment.key == row.segment


def test_without_a_choice_the_best_two_are_compared(rated: Campaign) -> None:
    by_humans = systems.compute(rated, Filters())
    assert by_humans.first is not None
    assert by_humans.second is not None
    assert (by_humans.first.label, by_humans.second.label) == ("strong", "middling")
    by_metric = systems.compute(rated, systems.SystemsPair(by="chrf", first="weak"))
    assert by_metric.second is not None
    assert by_metric.second.label == "strong"
    assert not by_metric.is_of_humans


def test_two_metrics_are_compared_by_pairs_of_outputs(rated: Campaign) -> None:
    found = metrics.compute(rated, metrics.MetricsPair(first="chrf", second="bleu"))
    assert found.n == 3 * 24
    assert (found.n_units, found.unit) == (6, "documents")
    assert found.wins is not None
    assert found.ties is not None
    assert found.losses is not None
    assert found.wins.count + found.ties.count + found.losses.count == found.n
    panel = read_panel(rated, Filters())
    z = [
        (values - values.mean()) / values.std(ddof=1)
        for values in (panel.measures[key].values for key in ("chrf", "bleu"))
    ]
    assert found.rows[0].gap == pytest.approx(np.max(z[0] - z[1]))
    assert {row.side for row in found.rows} == {FIRST, SECOND}


def test_a_metric_without_a_value_comes_last(rated: Campaign, as_researcher: Client) -> None:
    outputs = Output.objects.filter(system__in=rated.systems.all()).select_related("system")
    equal = {(each.system.name, each.segment.key): 0.5 for each in outputs}
    imported.store(rated.test_set, "constant", equal, {})
    found = metrics.compute(rated, Filters())
    assert found.first is not None
    assert found.second is not None
    assert "constant" not in found.first.label + found.second.label
    page = as_researcher.get(reverse("systems", args=[rated.slug]))
    assert page.context["parts"][0]["lines"][-1][0].label.startswith("constant")


def pair(wins: int, losses: int, lead: tuple[float, float] | None) -> Pair:
    n = wins + losses
    ends = lead or (None, None)
    about: dict[str, Any] = dict.fromkeys(
        ("campaign", "name", "direction", "length_ratio", "origin", "human_scores"), ""
    )
    return Pair(
        **about, offered=(), measures=(), n=n, n_units=n,
        first=Side("a", "Alpha", 1.0), second=Side("b", "Beta", 0.0),
        wins=Part(wins, wins / n if n else None), ties=Part(0, 0.0 if n else None),
        losses=Part(losses, losses / n if n else None), lead=Part(wins - losses, 0.0, *ends),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "reason", "case", "parameters"),
    [
        (pair(8, 2, (0.2, 0.9)), None, "ahead", {"first": "Alpha", "won": 0.8, "lost": 0.2}),
        (pair(2, 8, (-0.9, -0.2)), None, "ahead", {"first": "Beta", "won": 0.8, "lost": 0.2}),
        (pair(6, 4, (-0.2, 0.6)), None, "indistinct", {"first": "Alpha", "won": 0.6}),
        (pair(8, 2, (0.2, 0.9)), REFUSED, "doubted", {"first": "Alpha", "won": 0.8}),
        (pair(5, 5, (-0.5, 0.5)), None, "even", {"won": 0.5}),
        (pair(1, 0, None), None, "indistinct", {"won": 1.0, "lost": 0.0}),
        (pair(0, 0, None), None, "unjudged", {}),
    ],
)  # fmt: skip
def test_the_sentence(
    found: Pair, reason: Message | None, case: str, parameters: dict[str, Any]
) -> None:
    said = answer(found, SEGMENTS, reason)
    assert said.case == case
    assert said.sentence.parameters.items() >= parameters.items()
    assert list(said.details) == ([reason] if reason else [])
    if parameters:
        assert said.keys == {"Alpha": "a", "Beta": "b"}


@pytest.mark.parametrize(("wins", "losses"), [(1, 2), (12, 8)])
def test_ties_do_not_decide(wins: int, losses: int) -> None:
    found = ties_note(pair(wins, losses, (-0.1, 0.1)), OUTPUT_PAIRS)
    assert found[0].parameters["decided"] == wins + losses
    is_weak = wins + losses < FEW
    assert [each.code for each in found[1:]] == ["pair.few-decided"] * is_weak
    assert ties_note(pair(0, 0, None), SEGMENTS) == []


def test_pages_mark_what_differs(rated: Campaign, as_researcher: Client) -> None:
    address = f"/campaigns/{rated.slug}/systems-pair/"
    page = as_researcher.get(address, {"first": "weak", "second": "strong"}).text
    assert "<mark>" in page
    assert page.count('class="texts"') >= 2
    assert len(page.encode()) < 100 * 1024
    other = as_researcher.get(f"/campaigns/{rated.slug}/metrics-pair/").text
    assert tells(other, "units.output-pairs")
    rows = as_researcher.get(f"{address[:-1]}.csv").getvalue().decode().splitlines()
    assert rows[0].startswith("side,segment,document")
    assert r"\begin{tabular}" in as_researcher.get(f"{address[:-1]}.tex").text


@pytest.mark.parametrize(
    ("page", "query", "sentence"),
    [
        ("systems-pair", "first=nobody", "no system “nobody”"),
        ("systems-pair", "first=weak&second=weak", "pair.same-system"),
        ("systems-pair", "by=nothing", "“nothing”"),
        ("metrics-pair", "second=nothing", "“nothing”"),
        ("metrics-pair", "by=chrf", "the parameter by"),
    ],
)
def test_what_is_not_there_is_refused(
    rated: Campaign, as_researcher: Client, page: str, query: str, sentence: str
) -> None:
    answered = as_researcher.get(f"/campaigns/{rated.slug}/{page}/?{query}")
    assert answered.status_code == 400
    assert has(answered.text, sentence)
