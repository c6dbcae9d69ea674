"""What a design takes and can tell: against published data and the exact power."""

import csv
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.campaigns import add_annotators, effort, open_campaign
from annotation.campaigns.effort import (
    MQM,
    SCORES,
    Spread,
    describe_effort,
    least_difference,
    paces,
)
from annotation.models import Annotator
from metaeval.judgments.planning import VarianceComponents, power_table, variance_components
from tests.annotation.quality.test_monitor import of, rate
from tests.world import World


def codes(values: list[str]) -> np.ndarray:
    return np.unique(np.array(values), return_inverse=True)[1]


@pytest.mark.parametrize(
    ("columns", "spread"), [(("esa_1", "esa_2"), SCORES), (("mqm",), MQM)], ids=["esa", "mqm"]
)
@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_spreads_are_those_of_the_published_judgments(
    data_dir: Path, columns: tuple[str, ...], spread: Spread
) -> None:
    path = data_dir / "wmt23-meta" / "en-de" / "segment-scores.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = [
        (float(row[column]), row["system"], row["seg"], column)
        for row in rows
        for column in columns
        if row["system"] != "refA" and row[column]
    ]
    values, systems, segments, annotators = map(list, zip(*found, strict=True))
    parts = variance_components(
        np.array(values), codes(systems), codes(segments), codes(annotators)
    )
    assert f"{len(found):,}" in spread.source.text
    # With one judgment per output all of it counts as the output's.
    assert spread.output + spread.residual == pytest.approx(parts.output + parts.residual, abs=0.1)
    if len(columns) > 1:
        assert (spread.output, spread.residual) == pytest.approx(
            (parts.output, parts.residual), abs=0.1
        )


@pytest.mark.parametrize("n", [10, 30, 500])
@pytest.mark.parametrize("annotators", [1, 3])
def test_the_least_difference_has_the_power_that_is_said(n: int, annotators: int) -> None:
    least = least_difference(SCORES, n_segments=n, annotators=annotators)
    assert least is not None
    parts = VarianceComponents.stated(
        segment=0, output=SCORES.output, annotator=0, residual=SCORES.residual
    )
    table = power_table(
        parts, difference=least, n_segments=[n], annotators_per_item=[annotators], n_simulations=10,
        rng=1,
    )  # fmt: skip
    assert table.exact[0, 0] == pytest.approx(0.8, abs=0.005)


def test_too_few_segments_tell_nothing() -> None:
    assert least_difference(SCORES, n_segments=4, annotators=3) is None


def test_a_draft_says_what_it_takes(world: World, as_admin: Client) -> None:
    """4 segments × 2 systems × 3 people, and two traps for each: 30 judgments of 19 to 29 s."""
    lines = {name.code: value for name, value in describe_effort(world.campaign)}
    assert lines["effort.time"].text.startswith("9.5–14 min (means of WMT21")
    assert "effort.difference" not in lines
    page = as_admin.get("/campaigns/new/?testset=harbour").text
    assert "data-cost" in page


def test_judgments_of_this_site_say_how_long_they_take(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Revised answers and simulated people do not count."""
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    monkeypatch.setattr(effort, "ENOUGH", 8)
    Annotator.objects.filter(label="A3").update(is_simulated=True)
    for paid, assignment in zip((4_000, 6_000), of(world.campaign, "A1"), strict=False):
        rate(assignment, 50, paid_ms=99_000, is_current=False)
        rate(assignment, 50, paid_ms=paid, revision=2)
    for assignment in of(world.campaign, "A3"):
        rate(assignment, 50, paid_ms=1_000)
    assert paces()["segment-da"].high == 29
    for assignment in of(world.campaign, "A2")[:6]:
        rate(assignment, 50, paid_ms=5_000)
    found = paces()["segment-da"]
    assert (found.low, found.high) == (5, 5)
    assert (found.source.code, found.source.parameters) == ("pace.own", {"n": 8})
