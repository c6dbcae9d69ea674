"""What would change, and how many segments: against scipy, sacrebleu and metaeval."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import Filters
from annotation.models import Campaign, Judgment, Output
from dashboards.correlations.agreement import correlate
from dashboards.documents.computing import encoded, settled
from dashboards.panel.panel import read_panel
from dashboards.whatif import document as whatif
from dashboards.whatif import samplesize
from dashboards.whatif.page import MOVEMENT, SAMPLE_SIZE, SAMPLESIZE, WHATIF
from metaeval.sensitivity import LEVELS, draw_segments, resampled_levels
from metaeval.significance import boot_interval
from tests.dashboards import raw
from tests.house.templates.seen import seen
from tests.refusals import tells
from tests.world import World

ALL = Filters()


def row_of(document: whatif.WhatIf, left_out: str, key: str = "chrf") -> dict[str, Any]:
    rows = settled(document).rows
    (found,) = [row for row in rows if (row.left_out, row.key) == (left_out, key)]
    return vars(found)


def by_hand(campaign: Campaign, keep: raw.Keep, outputs: Any = None) -> dict[str, float]:
    """Both segment-level correlations of chrF, by scipy and sacrebleu."""
    human, metric = raw.z_by_output(raw.judged(campaign, keep)), raw.chrf(campaign)
    chosen = [pk for pk in human if outputs is None or outputs(pk)]
    x, y = [human[pk] for pk in chosen], [metric[pk] for pk in chosen]
    return {
        "tau": stats.kendalltau(x, y).statistic,
        "r_segment": stats.pearsonr(x, y).statistic,
    }


def test_without_each_annotator(rated: Campaign) -> None:
    document = whatif.compute(rated, ALL)
    base = by_hand(rated, lambda row: True)
    for name in ("S1", "S2", "S3"):
        expected = by_hand(rated, lambda row, name=name: raw.label(row) != name)  # type: ignore[misc]
        found = row_of(document, name)
        for statistic in ("tau", "r_segment"):
            assert found[statistic] == pytest.approx(expected[statistic], abs=1e-9)
            change = expected[statistic] - base[statistic]
            assert found[f"{statistic}_change"] == pytest.approx(change, abs=1e-9)
        assert found["left_out_kind"] == "annotator"


def test_without_each_system_and_each_document(rated: Campaign) -> None:
    document = whatif.compute(rated, ALL)
    system = dict(Output.objects.values_list("pk", "system__name"))
    expected = by_hand(rated, lambda row: True, lambda pk: system[pk] != "weak")
    found = row_of(document, "weak")
    assert found["tau"] == pytest.approx(expected["tau"], abs=1e-9)
    # Two systems are left.
    assert found["r_system"] is None
    segment = dict(Output.objects.values_list("pk", "segment__document"))
    expected = by_hand(rated, lambda row: True, lambda pk: segment[pk] != "market")
    found = row_of(document, "market")
    assert found["r_segment"] == pytest.approx(expected["r_segment"], abs=1e-9)
    assert found["n_outputs"] == 45


def test_the_base_is_the_correlation_table(rated: Campaign) -> None:
    table = {row.key: row for row in correlate(rated).rows}
    for one in whatif.compute(rated, ALL).base:
        for name in LEVELS:
            assert getattr(one, name) == pytest.approx(getattr(table[one.key], name), abs=1e-12)


def test_those_who_fail_are_left_out_together(rated: Campaign) -> None:
    for row in raw.judged(rated, lambda row: raw.label(row) != "S1"):
        if not raw.outputs_only(row):
            Judgment.objects.filter(pk=row.pk).update(score=95)
    document = whatif.compute(rated, ALL)
    found = row_of(document, "S2, S3")
    expected = by_hand(rated, lambda row: raw.label(row) == "S1")
    assert found["left_out_kind"] == "failing annotators"
    assert found["tau"] == pytest.approx(expected["tau"], abs=1e-9)


def test_nobody_failing_is_not_nobody_tested(rated: Campaign) -> None:
    traps = Judgment.objects.filter(assignment__item__kind="trap")
    traps.update(score=0)
    codes = [each.code for each in whatif.compute(rated, ALL).notes]
    assert "whatif.no-failures" in codes
    for person in rated.annotators.all():
        own = traps.filter(assignment__annotator=person)
        own.filter(pk__in=list(own.values_list("pk", flat=True))[:2]).delete()
    notes = whatif.compute(rated, ALL).notes
    assert 4 in [each.parameters.get("n") for each in notes]


def test_control_items_move_scores_that_are_standardised_with_them(rated: Campaign) -> None:
    assert not [s for s in whatif.compute(rated, ALL).scenarios if "control" in s.left_out_kind]
    Campaign.objects.filter(pk=rated.pk).update(z_pool="all")
    rated.refresh_from_db()
    document = whatif.compute(rated, ALL)
    found = row_of(document, "all")
    expected = by_hand(rated, raw.outputs_only)
    assert found["tau"] == pytest.approx(expected["tau"], abs=1e-9)
    assert found["tau_change"] != 0


def test_crowds_and_many_documents_are_cut_and_said(
    rated: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whatif, "MANY_PEOPLE", 2)
    monkeypatch.setattr(whatif, "MANY_DOCUMENTS", 2)
    document = whatif.compute(rated, ALL)
    kinds = [one.left_out_kind for one in document.scenarios]
    assert (kinds.count("annotator"), kinds.count("document")) == (2, 0)
    codes = [each.code for each in document.notes]
    assert "whatif.many-annotators" in codes
    assert "whatif.many-documents" in codes


def test_samples_by_copying_segments(rated: Campaign) -> None:
    scored = read_panel(rated, ALL).scored
    human, rng = scored.human, np.random.default_rng(3)
    counts = draw_segments(rng, 4, 18, 25)
    assert counts.sum(axis=1).tolist() == [25] * 4
    for key in ("chrf", "bleu"):
        one = scored.oriented(key)
        found = resampled_levels(human.values, [one], counts)[0]
        for drawn, values in zip(counts.astype(int), found, strict=True):
            index = np.repeat(np.arange(18), drawn)
            x, y = human.values[:, index].ravel(), one.values[:, index].ravel()
            assert values[0] == pytest.approx(stats.kendalltau(x, y).statistic)
            assert values[1] == pytest.approx(stats.pearsonr(x, y).statistic)
            if one.counts is None or one.score is None:
                systems = one.values[:, index].mean(axis=1)
            else:
                systems = one.score(one.counts[:, index].sum(axis=1))
            means = human.values[:, index].mean(axis=1)
            assert values[2] == pytest.approx(stats.pearsonr(means, systems).statistic)


def test_all_segments_give_the_bootstrap_interval(rated: Campaign) -> None:
    document = samplesize.compute(rated, ALL)
    scored = read_panel(rated, ALL).scored
    reference = boot_interval(
        scored.human,
        scored.metrics["chrf"],
        "pearson",
        resample="inputs",
        n_resamples=4000,
        rng=1,
    )
    (full,) = [
        row
        for row in document.rows
        if (row.key, row.statistic, row.share) == ("chrf", "r_segment", 1.0)
    ]
    assert reference.interval is not None
    low, high = reference.interval[:2]
    assert full.low == pytest.approx(low, abs=0.25 * (high - low))
    assert full.high == pytest.approx(high, abs=0.25 * (high - low))
    assert full.n_segments == 18


def test_bands_narrow_and_come_back_the_same(rated: Campaign) -> None:
    document = samplesize.compute(rated, ALL)
    assert encoded(samplesize.compute(rated, ALL)) == encoded(document)
    widths = {
        row.share: (row.high or 0.0) - (row.low or 0.0)
        for row in document.rows
        if (row.key, row.statistic) == ("chrf", "r_segment")
    }
    assert widths[1.0] < widths[0.5] < widths[0.1]
    assert document.sizes[-1] == 18


def test_the_budget_bounds_the_samples() -> None:
    assert samplesize.n_samples(1) == samplesize.MOST_SAMPLES
    assert samplesize.n_samples(1e9) == samplesize.FEWEST_SAMPLES
    assert samplesize.n_samples(samplesize.BUDGET / 70) == 70


def test_pages_and_files(rated: Campaign, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("whatif", args=[rated.slug]), {"of": "r_segment"})
    document = as_researcher.get(f"/campaigns/{rated.slug}/whatif.json").json()
    weak = next(one for one in document["scenarios"] if one["left_out"] == "weak")
    change = f"{weak['r_segment']['change']:.4f}".replace("-", "−")
    assert re.search(f">{change}</td><td[^>]*>{weak['r_segment']['of']}</td>", seen(page.text))
    assert as_researcher.get(f"/campaigns/{rated.slug}/whatif/?of=rho").status_code == 400
    for spec in (WHATIF, SAMPLESIZE):
        data = as_researcher.get(f"/campaigns/{rated.slug}/{spec.name}.csv").getvalue().decode()
        assert data.splitlines()[0].split(",")[: len(spec.columns)] == list(spec.columns)
        assert len(data.splitlines()) > 10
    page = as_researcher.get(reverse("samplesize", args=[rated.slug]))
    assert "18 judged segments" in page.text


def test_nothing_to_leave_out(world: World, as_researcher: Client) -> None:
    for name in ("whatif", "samplesize"):
        page = as_researcher.get(reverse(name, args=[world.campaign.slug]))
        assert tells(page.text, "outputs.no-human-scores")


def test_figures_hold_the_documents_numbers(rated: Campaign) -> None:
    document = settled(whatif.compute(rated, ALL))
    drawn = MOVEMENT["segments"](document)
    assert drawn is not None
    ticks = [p["change"] for p in drawn["data"]["values"] if p["left_out"].text == "annotator S2"]
    expected = [row.tau_change for row in document.rows if row.left_out == "S2"]
    assert ticks == pytest.approx(expected, abs=5e-5)
    sizes = settled(samplesize.compute(rated, ALL))
    curves = SAMPLE_SIZE["segments"](sizes)
    assert curves is not None
    assert len(curves["data"]["values"]) == 2 * len(samplesize.SHARES)
    assert [draw(replace(document, scenarios=[])) for draw in MOVEMENT.values()] == [None, None]
    assert [draw(replace(sizes, rows=[])) for draw in SAMPLE_SIZE.values()] == [None, None]
