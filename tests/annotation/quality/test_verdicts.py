"""Verdicts: published classes of crowd workers, and the rule at its borders."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy import stats

from annotation.campaigns import add_annotators, open_campaign
from annotation.imports import tables
from annotation.models import Campaign, Item, Judgment
from annotation.protocols.base import Scale
from annotation.quality import JudgmentColumns, Verdict, quality_report
from annotation.quality.verdict import check, of_rate, of_test, overall
from metaeval.judgments.controls import control_test, pass_rate
from tests.house.templates.seen import seen
from tests.world import World, make_dataset

PASSES, FAILS, UNKNOWN = Verdict.PASSES, Verdict.FAILS, Verdict.UNKNOWN


def test_published_classes_of_all_workers(data_dir: Path) -> None:
    """WMT21 called 1,667 tested workers good or bad by p < .05 of the same test."""
    path = data_dir / "raw-crowd-da/wmt21-all-workers-qc.tsv"
    template = control_test([1, 2, 4], [2, 4, 9])
    agreed: Counter[tuple[str, Verdict]] = Counter()
    unknown: list[int] = []
    for row in tables.read_table(path):
        if row["qc_p"]:
            p, n = row.real("qc_p"), row.whole("qc_n_pairs")
            test = replace(template, n=n, pvalue=p)
            verdict = of_test(test, test)
            agreed[row["class"], verdict] += 1
            unknown += [n] if verdict == UNKNOWN else []
    assert sum(agreed.values()) == 1667
    assert agreed["good", FAILS] == agreed["bad", PASSES] == 0
    assert agreed["good", PASSES] + agreed["bad", FAILS] > 1200
    assert max(unknown) < 10  # the rest had no whole HIT of ten pairs


def test_rejected_workers_of_graham_2015(db: None) -> None:
    """Rejected W05 (p = .12) and W12 (.26) fail, as does W08, who gave 48 to 50 throughout."""
    make_dataset("graham2015")
    campaigns = Campaign.objects.filter(slug__startswith="graham2015")
    verdicts = {
        person.label: person.checks
        for campaign in campaigns
        for person in quality_report(campaign).annotators
    }
    assert {name: verdicts[name].verdict for name in ("W05", "W08", "W12", "W19", "W30")} == (
        dict.fromkeys(("W05", "W08", "W12", "W19", "W30"), FAILS)
    )
    assert Counter(checks.verdict for checks in verdicts.values())[PASSES] >= 18
    test = verdicts["W05"].bad_references
    assert test is not None
    assert test.pvalue == pytest.approx(0.12, abs=0.005)


def columns(*rows: tuple[object, ...]) -> JudgmentColumns:
    """Judgments of one annotator: item, kind, partner, score and perhaps low and high."""
    full = [(*row, np.nan, np.nan)[:6] for row in rows]
    item, kind, partner, score, low, high = zip(*full, strict=True)
    nothing = np.full(len(rows), np.nan)
    return JudgmentColumns(
        annotator=np.ones(len(rows), dtype=np.int64),
        item=np.array(item),
        kind=np.array(kind, dtype="U10"),
        output=np.array(item),
        segment=np.array(item),
        document=np.full(len(rows), -1),
        partner=np.array(partner),
        screen=np.array(partner),
        beside_control=np.zeros(len(rows), dtype=bool),
        low=np.array(low, dtype=float),
        high=np.array(high, dtype=float),
        keeps=nothing,
        score=np.array(score, dtype=float),
        seconds=nothing,
        paid=nothing,
        active=nothing,
        doubted=np.zeros(len(rows), dtype=bool),
        submitted=nothing,
        inclusion=nothing,
    )


def paired(differences: list[float], kind: str = "bad_ref") -> JudgmentColumns:
    rows: list[tuple[object, ...]] = []
    for number, difference in enumerate(differences):
        rows += [(number, "target", -1, 50), (100 + number, kind, number, 50 + difference)]
    return columns(*rows)


def verdict_of(judged: JudgmentColumns, *, has_score: bool = True) -> Verdict:
    return check(judged, scale=Scale() if has_score else None).verdict


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([-30, -20, -25, -31], UNKNOWN),  # clear, but four pairs prove nothing
        ([-30, -20, -25, -31, -28], PASSES),
        ([3, -4, 2, -1, 5, 0, 1, -2, 4], UNKNOWN),  # nine pairs, nothing to see yet
        ([3, -4, 2, -1, 5, 0, 1, -2, 4, 1], FAILS),
        ([-20] * 10, PASSES),  # t is undefined, the ranks are not
        ([0] * 10, FAILS),  # never distinguished
        ([0] * 9, UNKNOWN),
        ([20] * 10, FAILS),
    ],
)
def test_the_rule_for_pairs(differences: list[float], expected: Verdict) -> None:
    assert verdict_of(paired(differences)) == expected


def test_numbers_beside_the_verdict_equal_scipy() -> None:
    differences = [-30, -21, 4, -31, -28, -9, 3, -12, -40, -5.0]
    checks = check(paired(differences), scale=Scale())
    t = stats.ttest_1samp(differences, 0, alternative="less")
    assert checks.bad_references is not None
    assert checks.signed_rank is not None
    assert checks.bad_references.pvalue == pytest.approx(t.pvalue)
    assert checks.bad_references.effect == "Cohen's d_z"
    assert checks.bad_references.effect_size == pytest.approx(
        np.mean(differences) / stats.tstd(differences)
    )
    ranks = stats.wilcoxon(differences, alternative="less")
    assert checks.signed_rank.pvalue == pytest.approx(ranks.pvalue)


def test_five_pairs_are_the_fewest_that_ranks_can_tell() -> None:
    """The smallest p of n pairs is 2 to the -n."""
    fewest = [stats.wilcoxon([-i for i in range(1, n + 1)], alternative="less").pvalue
              for n in range(1, 7)]  # fmt: skip
    assert [p <= 0.05 for p in fewest] == [False] * 4 + [True] * 2


@pytest.mark.parametrize(
    ("passed", "n", "expected"),
    [(4, 4, UNKNOWN), (0, 4, UNKNOWN), (5, 5, PASSES), (7, 10, PASSES), (6, 10, FAILS)],
)
def test_the_rule_for_traps_and_gold(passed: int, n: int, expected: Verdict) -> None:
    assert of_rate(pass_rate(passed, n)) == expected
    scores = [20] * passed + [21] * (n - passed)
    assert verdict_of(columns(*((i, "trap", -1, s) for i, s in enumerate(scores)))) == expected
    gold = [60] * passed + [59] * (n - passed)
    rows = ((i, "gold", -1, s, 60, 80) for i, s in enumerate(gold))
    assert verdict_of(columns(*rows)) == expected


def test_gold_may_lack_a_bound() -> None:
    rows = [(1, "gold", -1, 90, 80), (2, "gold", -1, 90, np.nan, 20), (3, "gold", -1, 50)]
    gold = check(columns(*rows), scale=Scale()).gold
    assert gold is not None
    assert (gold.passed, gold.n) == (1, 2)


def test_penalties_have_no_low_score() -> None:
    """MQM has no scale from 0 to 100: traps and gold are not counted, pairs are."""
    traps = columns(*((i, "trap", -1, -25.0) for i in range(6)))
    assert verdict_of(traps, has_score=False) == UNKNOWN
    assert verdict_of(paired([-5, -10, -6, -1, -11, -2]), has_score=False) == PASSES


def test_repeats_decide_nothing() -> None:
    constant = paired([0] * 20, kind="repeat")
    checks = check(constant, scale=Scale())
    assert checks.repeats is not None
    assert (checks.repeats.n, checks.repeats.mean_absolute) == (20, 0)
    assert checks.verdict == UNKNOWN


def test_one_failure_decides() -> None:
    assert overall([PASSES, FAILS, UNKNOWN]) == FAILS
    assert overall([PASSES, UNKNOWN]) == PASSES
    assert overall([]) == UNKNOWN


def test_the_page_says_so(db: None, world: World, data_dir: Path, as_researcher: Client) -> None:
    call_command("import_dataset", "graham2015", data=data_dir)
    campaign = Campaign.objects.filter(slug__startswith="graham2015").order_by("slug").first()
    assert campaign is not None
    page = seen(as_researcher.get(reverse("quality", args=[campaign.slug])).text)
    assert "fails</span> <span" in page
    assert "passes</span>" in page
    assert "p &gt; .05" in page
    assert "at least 10" in page
    rows = as_researcher.get(reverse("quality-data", args=[campaign.slug, "json"])).json()
    assert {row["verdict"] for row in rows["annotators"]} <= set(Verdict)
    assert not Item.objects.filter(campaign=campaign, kind="trap").exists()


def test_the_three_clocks(world: World, as_researcher: Client) -> None:
    """Reports with a warning are counted, and excluded from means."""
    add_annotators(campaign=world.campaign, users=world.annotators)
    campaign = open_campaign(campaign=world.campaign)
    annotator = campaign.annotators.order_by("pk").first()
    assert annotator is not None
    begin = timezone.now()
    reports = [
        (20, 20, 12, ""),
        (900, 600, 30, ""),
        (40, 40, 4_000, "longer"),
        (40, 40, None, "missing"),
    ]
    for row, (raw, paid, active, doubt) in zip(
        annotator.assignments.order_by("position"), reports, strict=False
    ):
        Judgment.objects.create(
            assignment=row, score=50, submit_key=uuid4(), started_at=begin,
            submitted_at=begin + timedelta(seconds=raw), paid_ms=paid * 1000,
            active_ms=None if active is None else active * 1000, time_doubt=doubt,
        )  # fmt: skip
    line = quality_report(campaign).annotators[0]
    assert line.times is not None
    assert line.clocks is not None
    assert (line.times.mean, line.times.mean_cut) == (250, pytest.approx(100 / 3))
    assert (line.clocks.paid, line.clocks.active, line.clocks.doubted) == (175, 21, 2)
    address = reverse("quality-data", args=[campaign.slug, "json"])
    values = as_researcher.get(address).json()["annotators"][0]
    names = ("seconds_paid_mean", "seconds_active_mean", "doubted_times")
    assert [values[name] for name in names] == [175, 21, 2]
    assert "implausible</th>" in as_researcher.get(reverse("quality", args=[campaign.slug])).text
