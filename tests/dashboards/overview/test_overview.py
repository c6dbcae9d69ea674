"""The dashboard's numbers against numpy and scipy from raw rows."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy import stats

from annotation.filters import Filters
from annotation.models import Campaign, Judgment
from dashboards.documents.computing import settled
from dashboards.overview import document as overview
from dashboards.overview.annotators import DRIFTING, Row
from dashboards.overview.document import Overview
from dashboards.overview.figures import FIGURES
from dashboards.overview.page import OVERVIEW
from dashboards.pages.answers import UNITS
from dashboards.quality.document import CHECKS
from tests.dashboards import raw
from tests.refusals import tells
from tests.world import World


def compute(campaign: Campaign, **filters: Any) -> Overview:
    return settled(overview.compute(campaign, Filters(**filters)))


def of(document: Overview, label: str) -> Row:
    return next(row for row in document.rows if row.annotator == label)


def times(rows: Sequence[Judgment]) -> list[float]:
    return [
        (row.submitted_at - row.started_at).total_seconds()
        for row in rows
        if row.submitted_at and row.started_at
    ]


def test_progress_times_and_traps(rated: Campaign) -> None:
    document, rows = compute(rated), raw.judged(rated)
    assert document.progress.ratings == document.progress.wanted == 180
    assert document.progress.outputs_judged == document.progress.outputs == 54
    seconds = times(rows)
    assert document.times.mean == pytest.approx(statistics.fmean(seconds))
    assert document.times.median == pytest.approx(statistics.median(seconds))
    kept = [each for each in seconds if each <= 600]
    assert document.times.mean_cut == pytest.approx(statistics.fmean(kept))
    traps = [row.score or 0 for row in rows if not raw.outputs_only(row)]
    assert document.traps.zero == sum(score == 0 for score in traps)
    assert document.traps.high == sum(score > 20 for score in traps)
    low = sum(score <= 20 for score in traps)
    wilson = stats.binomtest(low, len(traps)).proportion_ci(method="wilson")
    assert document.traps.interval == pytest.approx([wilson.low, wilson.high])


def test_distributions_of_each_annotator(rated: Campaign) -> None:
    document = compute(rated)
    own = [row for row in raw.judged(rated, raw.outputs_only) if raw.label(row) == "S2"]
    scores = np.array([row.score for row in own], dtype=float)
    row = of(document, "S2")
    assert row.raw_mean == pytest.approx(scores.mean())
    assert row.raw_q25 == pytest.approx(np.quantile(scores, 0.25))
    assert row.raw_q95 == pytest.approx(np.quantile(scores, 0.95))
    z = stats.zscore(scores, ddof=1)
    assert row.z_median == pytest.approx(np.median(z))
    assert row.z_min == pytest.approx(z.min())


def test_agreement_by_hand(rated: Campaign) -> None:
    (outputs, both) = compute(rated).agreement
    rows = raw.judged(rated, raw.outputs_only)
    z: dict[str, dict[int, float]] = {}
    for label in ("S1", "S2", "S3"):
        own = [row for row in rows if raw.label(row) == label]
        scores = stats.zscore([float(row.score or 0) for row in own], ddof=1)
        keys = [row.assignment.item.output_id for row in own]
        z[label] = dict(sorted(zip(keys, scores.tolist(), strict=True)))
    table = np.array([list(each.values()) for each in z.values()])
    r = [
        stats.pearsonr(table[i], np.delete(table, i, axis=0).mean(axis=0)).statistic
        for i in range(3)
    ]
    assert outputs.one_vs_rest[0] == pytest.approx(np.mean(r))
    low, high = outputs.one_vs_rest[1]
    assert low < np.mean(r) < high
    within = np.var(table, axis=0, ddof=1).mean()
    # Complete data, interval level: alpha = 1 - observed / expected disagreement.
    assert outputs.alpha_z[0] == pytest.approx(1 - within / np.var(table, ddof=1))
    assert (outputs.n_units, both.n_units) == (54, 60)


def test_agreement_of_real_annotators_is_that_of_the_quality_page(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "calibration-da", data=data_dir)
    document = compute(Campaign.objects.get(slug="calibration-zh-en"), unit="segments")
    table: dict[str, dict[str, float]] = {}
    lines = (data_dir / "calibration-da/zh-en/judgments.tsv").read_text("utf-8").splitlines()
    items = (data_dir / "calibration-da/zh-en/items.tsv").read_text("utf-8").splitlines()
    segments = {line.split("\t")[0] for line in items if "\tsegment\t" in line}
    for line in lines[1:]:
        person, item, score, *_ = line.split("\t")
        if item in segments:
            table.setdefault(person, {})[item] = float(score)
    z = {
        who: dict(zip(own, stats.zscore(list(own.values()), ddof=1), strict=True))
        for who, own in table.items()
    }
    found = []
    for who, own in z.items():
        rest = {i: [z[o][i] for o in z if o != who and i in z[o]] for i in own}
        shared = [i for i in own if rest[i]]
        found.append(
            stats.pearsonr([own[i] for i in shared], [np.mean(rest[i]) for i in shared]).statistic
        )
    assert document.agreement[0].one_vs_rest[0] == pytest.approx(np.mean(found), abs=1e-9)
    assert {one.code for one in document.drift_warnings} == {"drift.warning"}


def test_drift_is_reported(rated: Campaign) -> None:
    own = [row for row in raw.judged(rated, raw.outputs_only) if raw.label(row) == "S1"]
    for place, row in enumerate(own):
        Judgment.objects.filter(pk=row.pk).update(score=max(0, 90 - place + place % 3))
    document = compute(rated, unit="segments")
    scores = [max(0, 90 - place + place % 3) for place in range(len(own))]
    expected = stats.kendalltau(range(len(own)), scores)
    row = of(document, "S1")
    assert row.z_drift_tau == pytest.approx(expected.statistic)
    assert row.z_drift_pvalue == pytest.approx(expected.pvalue)
    found = [one for one in document.drift_warnings if one.parameters["values"] == DRIFTING[0]]
    (warning,) = found
    assert "S1" in warning.text
    assert "S2" not in warning.text


def test_a_careless_annotator_is_a_suspect(rated: Campaign) -> None:
    for row in raw.judged(rated):
        if raw.label(row) == "S3":
            Judgment.objects.filter(pk=row.pk).update(score=70)
        elif row.assignment.item.kind == "trap":
            Judgment.objects.filter(pk=row.pk).update(score=0)
    document = compute(rated)
    assert document.suspects == ["S3"]
    found = {each.code: each.parameters for each in of(document, "S3").signs}
    assert found["sign.fails"]["check"] == CHECKS["traps"]
    assert "sign.one-score" in found
    assert found["sign.run"] == {"n": 60}
    assert of(document, "S3").z_mean is None


def test_an_excluded_annotator_has_a_line_and_counts_nowhere(rated: Campaign) -> None:
    rated.annotators.filter(label="S3").update(excluded_at=timezone.now())
    document = compute(rated)
    assert of(document, "S3").is_excluded
    assert document.n_judgments == 120
    assert {one.annotator for one in document.series} == {"S1", "S2"}


def test_filters_hold_everywhere(rated: Campaign) -> None:
    document = compute(rated, without=("S3",), traps="out")
    assert [row.annotator for row in document.rows] == ["S1", "S2"]
    assert document.n_judgments == 108
    assert document.traps is None
    assert [one.has_traps for one in document.agreement] == [False]
    kept = raw.judged(rated, lambda row: raw.label(row) != "S3" and raw.outputs_only(row))
    assert document.times.mean == pytest.approx(statistics.fmean(times(kept)))


def test_the_page_its_csv_and_its_json_agree(rated: Campaign, as_researcher: Client) -> None:
    address = reverse("quality", args=[rated.slug])
    page = as_researcher.get(address)
    document = as_researcher.get(f"/campaigns/{rated.slug}/dashboard.json").json()
    mean = f'data-name="seconds_mean">{document["times"]["mean"]:.2f} s'
    assert mean in page.text
    lines = as_researcher.get(f"/campaigns/{rated.slug}/dashboard.csv").getvalue().decode()
    header, *rows = lines.splitlines()
    assert header.split(",") == [*OVERVIEW.columns, *UNITS]
    assert len(rows) == 3
    assert as_researcher.get(address, headers={"If-None-Match": page["ETag"]}).status_code == 304


def test_a_draft_says_that_there_is_nothing(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("quality", args=[world.campaign.slug]))
    assert page.status_code == 200
    assert tells(page.text, "quality.no-annotators")


def test_figures_hold_the_documents_numbers(rated: Campaign) -> None:
    document = compute(rated)
    scores = FIGURES["scores"](document)
    assert scores is not None
    boxes = {each["annotator"]: each for each in scores["data"]["values"]}
    assert boxes["S2"]["raw_median"] == pytest.approx(of(document, "S2").raw_median, abs=5e-4)
    assert set(boxes) == {"S1", "S2", "S3"}
    drift = FIGURES["drift"](document)
    assert drift is not None
    assert drift["description"]
    points = [each for each in drift["data"]["values"] if each["annotator"] == "S1"]
    series = next(one for one in document.series if (one.annotator, one.value) == ("S1", "z"))
    assert [each["mean"] for each in points] == pytest.approx(
        [mean for _, mean in series.points], abs=5e-4
    )


def test_figures_without_judgments_are_not_drawn(world: World) -> None:
    document = compute(world.campaign)
    assert [draw(document) for draw in FIGURES.values()] == [None] * 3
