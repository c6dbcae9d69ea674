"""The page on shortness: numbers against a regression from the database, and its addresses."""

import json
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from django.test import Client

from annotation.filters import Filters
from annotation.models import Campaign, Output, System
from dashboards.panel.panel import read_panel
from extensions.shortness.page import TOLERANCES, Shortness, ShortnessChoice, compute
from tests.shared import SharedRows
from tests.world import make_scored_demo, make_user


def scored() -> int:
    make_scored_demo("chrf")
    return Campaign.objects.get(slug="demo-en-zh-80").pk


@pytest.fixture(scope="module")
def demo_rows(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(scored) as pk:
        yield pk


@pytest.fixture
def demo(demo_rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=demo_rows)


@pytest.fixture
def document(demo: Campaign) -> Shortness:
    return compute(demo, ShortnessChoice())


def characters(text: str) -> int:
    return len("".join(text.split()))


def test_partial_correlations_are_those_of_a_regression(
    demo: Campaign, document: Shortness
) -> None:
    """Lengths from the database, then least squares with a dummy for each segment."""
    panel = read_panel(demo, Filters())
    rows = []
    outputs = Output.objects.filter(system__campaigns=demo).prefetch_related("segment__references")
    texts = {each.pk: each for each in outputs}
    (key,) = [row.key for row in document.rows]
    for system, segment in np.ndindex(panel.outputs.shape):
        own = texts.get(panel.outputs[system, segment])
        human = panel.scored.human.values[system, segment]
        metric = panel.scored.metrics[key].values[system, segment]
        if own is None or np.isnan(human + metric):
            continue
        full = np.mean([characters(each.text) for each in own.segment.references.all()])
        rows.append((segment, human, metric, characters(own.text) / full))
    place, human, metric, length = np.array(rows).T
    design = np.column_stack([human, place[:, None] == np.unique(place)])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0]
            for each in (metric, length)]  # fmt: skip
    (row,) = document.rows
    assert row.n == len(rows)
    assert row.partial == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-9)
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.partial < row.high
    assert (document.length_unit, document.of) == ("characters", "reference")


def test_compliance_counts_outputs(demo: Campaign, document: Shortness) -> None:
    systems = {row.system for row in document.compliant}
    assert len(document.compliant) == len(systems) * len(TOLERANCES)
    for name in systems:
        shares = [row.share for row in document.compliant if row.system == name]
        assert shares == sorted(shares, key=lambda share: share or 0.0)
    widest = [row for row in document.compliant if row.tolerance == TOLERANCES[-1]]
    assert {row.n_common for row in widest} == {widest[0].n_common}


def test_systems_at_two_lengths_are_compared_with_themselves(demo: Campaign) -> None:
    """The demo has each system at one length; here one is made the shorter form of another."""
    first, second = demo.systems.order_by("name")[:2]
    System.objects.filter(pk=first.pk).update(name="le")
    System.objects.filter(pk=second.pk).update(name="le", length_ratio=Decimal("0.5"))
    found = compute(Campaign.objects.get(pk=demo.pk), ShortnessChoice())
    (forms,) = found.forms
    assert (forms.long, forms.short, list(forms.systems)) == ("0.80", "0.50", ["le"])
    panel = read_panel(Campaign.objects.get(pk=demo.pk), Filters())
    places = {each.length_ratio: n for n, each in enumerate(panel.human.systems)
              if each.name == "le"}  # fmt: skip
    long, short = places[Decimal("0.8")], places[Decimal("0.5")]
    human = panel.scored.human.values
    both = ~np.isnan(human[long] + human[short])
    metric = panel.scored.metrics[forms.key].values
    both &= ~np.isnan(metric[long] + metric[short])
    losses = []
    for values in (metric, human):
        spread = np.concatenate([values[long][both], values[short][both]]).std(ddof=1)
        losses.append((values[long] - values[short])[both].mean() / spread)
    assert (forms.n, forms.metric_loss, forms.human_loss) == pytest.approx((both.sum(), *losses))
    assert forms.excess == pytest.approx(losses[0] - losses[1])


def test_the_page_and_its_data(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    address = f"/campaigns/{demo.slug}/shortness"
    page = client.get(f"{address}/").content.decode()
    assert "data-no-ratios" in page
    data = json.loads(client.get(f"{address}.json").content)
    assert [row["label"] for row in data["rows"]] == ["chrF"]
    table = b"".join(client.get(f"{address}.csv")).decode().splitlines()
    assert table[0].lstrip("\ufeff").startswith("key,label,partial,low,high")
    words = json.loads(client.get(f"{address}.json?length_unit=words").content)
    assert words["length_unit"] == "words"
    assert client.get(f"{address}.json?wanted=length").status_code == 400
