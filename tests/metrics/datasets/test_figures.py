"""Published sets with metric scores: their figures come out of the analyses after the import."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import IN, FilterError, Filters
from annotation.imports import tables
from annotation.imports.human_scores import QUESTION
from annotation.models import Campaign, ErrorSpan, Judgment, Output, TestSet
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import SegmentDraft, SystemDraft
from dashboards.correlations.document import Row, compute
from dashboards.documents.computing import settled
from dashboards.panel.human import human_scores
from metrics import datasets
from metrics.models import ConfiguredMetric
from tests.metaeval.wmt.laid_out import figures
from tests.refusals import refused
from tests.world import make_dataset, score

# README of the data: against MQM over 12 MT systems, r over systems and over 5,520 outputs.
WMT23 = {
    "BLEU-refA": (0.917, 0.192),
    "chrF-refA": (0.866, 0.232),
    "COMET-refA": (0.990, 0.432),
    "CometKiwi-src": (0.946, 0.475),
    "XCOMET-Ensemble-refA": (0.980, 0.695),
    "GEMBA-MQM-src": (0.993, 0.502),
    "Random-sysname-src": (0.357, 0.064),
}


def rows_of(campaign: Campaign) -> dict[str, Row]:
    """The table of correlations by the metrics' published names."""
    document = settled(compute(campaign, Filters()))
    return {row.label.removesuffix(" (imported)"): row for row in document.rows}


def test_wmt15_system_correlations_are_those_published(db: None, data_dir: Path) -> None:
    make_dataset("wmt15")
    scores: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in tables.read_table(data_dir / "wmt15/scores.tsv"):
        scores[row["lp"], row["metric"]].append((row.real("score"), row.real("human")))
    found = {
        campaign.slug.removeprefix("wmt15-"): rows_of(campaign)
        for campaign in Campaign.objects.all()
    }
    published = list(tables.read_table(data_dir / "wmt15/metric-correlations.tsv"))
    assert len(published) == 114
    for row in published:
        pair, metric = row["lp"], row["metric"]
        ours = found[pair][metric].r_system
        assert abs(ours) == pytest.approx(row.real("published_r"), abs=1e-12), (pair, metric)
        by_scipy = stats.pearsonr(*np.array(scores[pair, metric]).T).statistic
        assert abs(ours) == pytest.approx(abs(by_scipy), abs=1e-12)
    lower = ConfiguredMetric.objects.get(label="BS (imported)")
    assert not lower.info.higher_is_better
    assert found["cs-en"]["BS"].r_system > 0


def test_wmt15_has_systems_alone(db: None, data_dir: Path, as_admin: Client) -> None:
    """Nothing is known of its texts, so none is made up, and no question that was not asked."""
    make_dataset("wmt15")
    test_set = TestSet.objects.get(slug="wmt15-cs-en")
    assert test_set.systems.count() == 16
    assert not test_set.segments.exists()
    assert not Output.objects.filter(system__test_set=test_set).exists()
    campaign = Campaign.objects.get(slug="wmt15-cs-en")
    assert campaign.question == QUESTION
    for name in ("campaign-setup", "access"):
        page = as_admin.get(reverse(name, args=[campaign.slug])).text
        assert 'data-case="published"' in page


def test_wmt15_goes_into_a_set_with_the_segment_that_was_made_up(db: None, data_dir: Path) -> None:
    """As versions before stored it."""
    [draft] = datasets.read("wmt15", *datasets.pairs("wmt15", data_dir, "cs-en"))
    segment = SegmentDraft("1", NO_SOURCE)
    systems = [SystemDraft(each.name, outputs={"1": ""}) for each in draft.test_set.systems]
    old = replace(draft.test_set, segments=[segment], systems=systems, is_systems_only=False)
    datasets.store(replace(draft, test_set=old))
    call_command("import_dataset", "wmt15", pair="cs-en", data=data_dir)
    assert Campaign.objects.count() == TestSet.objects.count() == 1
    assert Output.objects.count() == len(systems)


def test_wmt23_metrics_against_mqm(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "wmt23-meta", data=data_dir)
    campaign = Campaign.objects.get(slug="wmt23-en-de-mqm")
    rows = rows_of(campaign)
    assert len(rows) == 13
    for name, (of_systems, of_segments) in WMT23.items():
        found = rows[name]
        assert found.r_system == pytest.approx(of_systems, abs=5e-4), name
        assert found.r_segment == pytest.approx(of_segments, abs=5e-4), name
        assert found.n == 5520
    # The human reference was judged too: metrics without a reference score it.
    for row in compute(campaign, Filters(humans=IN)).rows:
        assert row.n == (5520 if "refa" in row.key else 5980)
    assert Campaign.objects.filter(study="wmt23-meta").count() == 4
    of_a_domain(campaign)


def of_a_domain(campaign: Campaign) -> None:
    """The news of WMT23: mt-metrics-eval's figures for the scores of that domain."""
    rows = {row.label: row for row in compute(campaign, Filters(domains=("news",))).rows}
    for name, value in figures("news en-de")["en-de seg-pearson"].items():
        metric = name.removesuffix("[noref]")
        row = rows[f"{metric}-{'refA' if metric == name else 'src'}"]
        assert row.r_segment == pytest.approx(value, abs=2e-6), name
    with refused("filter.no-domain", kind=FilterError):
        compute(campaign, Filters(domains=("newz",)))


def test_segments_of_graham_et_al_with_chrf(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "graham2015-scores", data=data_dir)
    # README of the data: r of chrF with the mean z-score.
    for pair, n, published in (("es-en", 500, 0.39), ("en-de", 140, 0.43), ("cs-en", 70, 0.25)):
        campaign = Campaign.objects.get(slug=f"graham2015-scores-{pair}")
        score(campaign.test_set, "chrf")
        (row,) = compute(campaign, Filters()).rows
        assert (row.n, row.r_segment) == (n, pytest.approx(published, abs=5e-3))


def test_spans_of_six_groups(db: None, data_dir: Path) -> None:
    make_dataset("spans")
    slug = "wmt23-spans-en-de"
    read = tables.read_table(data_dir / "spans/en-de/judgments.tsv")
    given = {(r["set"].lower(), r["system"], r["seg"]): r.real("score") for r in read}
    for campaign in Campaign.objects.all():
        group = campaign.slug.removeprefix(f"{slug}-")
        human = human_scores(campaign, Filters(scores="raw", humans=IN))
        keys = dict(campaign.test_set.segments.values_list("pk", "key"))
        ours = {
            (group, system.name, keys[segment]): human.values[i, j]
            for i, system in enumerate(human.systems)
            for j, segment in enumerate(human.segments)
            if not np.isnan(human.values[i, j])
        }
        assert ours == pytest.approx({k: v for k, v in given.items() if k[0] == group})
    assert Campaign.objects.count() == 6
    # README: 11,991 spans; error-free outputs of ESA-1 and ESA-2.
    assert ErrorSpan.objects.count() == 11_991
    for group, published in (("esa-1", 50.9), ("esa-2", 51.2)):
        of_group = Judgment.objects.filter(assignment__annotator__campaign__slug=f"{slug}-{group}")
        free = of_group.filter(score__gte=85, spans=None).count()
        assert 100 * free / of_group.count() == pytest.approx(published, abs=0.1)
    # No span on the target side: WMT-MQM 25%, MQM-1 72%, ESA-1 81%, ESA-2 61%.
    for group, share in (("wmt-mqm", 25), ("mqm-1", 72), ("esa-1", 81), ("esa-2", 61)):
        judged = Judgment.objects.filter(assignment__annotator__campaign__slug=f"{slug}-{group}")
        marked = judged.filter(spans__side="target").distinct().count()
        assert 100 * (1 - marked / 2028) == pytest.approx(share, abs=0.6)
