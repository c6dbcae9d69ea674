"""The verdict on trust: every reason on and off, the verdict, and what may be marked."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Annotator, Campaign, Judgment
from annotation.quality import Checks
from annotation.quality.verdict import Verdict as Passing
from core import caching
from core.text import seconds_to_read
from dashboards.comparisons.document import Comparison
from dashboards.documents.head import Estimate
from dashboards.documents.reasons import (
    TABS,
    TOPICS,
    CampaignTrust,
    Reason,
    Severity,
    Verdict,
    verdict_of,
    with_reasons,
)
from dashboards.systems.document import Systems
from dashboards.systems.page import marked
from dashboards.templatetags.results import brief
from dashboards.trust import amount, judging, marks, verdict
from dashboards.trust.agreement import OUTPUTS, AgreementLine
from dashboards.trust.shown import comments, worst_of
from metaeval.judgments.controls import pass_rate
from metaeval.messages import message
from metaeval.replication.questions.statistics import SYSTEM
from tests.dashboards import typed
from tests.dashboards.clicking import make_clicked
from tests.dashboards.conftest import make_rated
from tests.planting import plant
from tests.refusals import tells
from tests.world import World


def agreed(n_units: int, alpha_z: Estimate, alpha_raw: Estimate = (None, None)) -> AgreementLine:
    about: dict[str, Any] = {"items": OUTPUTS, "has_traps": False, "n": 2 * n_units, "basis": {}}
    return AgreementLine(
        n_units=n_units, one_vs_rest=alpha_z, alpha_z=alpha_z, alpha_raw=alpha_raw, **about
    )


GOOD = agreed(300, (0.4, (0.3, 0.5)), (0.1, (-0.1, 0.3)))
NONE = agreed(30, (-0.05, (-0.25, 0.15)), (-0.05, (-0.25, 0.15)))


def rate(passed: int, n: int) -> Checks:
    """Traps of one annotator, judged as the quality page judges them."""
    found = pass_rate(passed, n) if n else None
    unknown = Passing.UNKNOWN if n < 5 else None
    passing = unknown or (Passing.PASSES if passed / n >= 0.7 else Passing.FAILS)
    return Checks(None, None, found, None, None, {"traps": passing} if n else {})


class Person:
    """As much of an annotator's quality as the verdict reads."""

    def __init__(self, label: str, checks: Checks, n: int = 100, **given: object) -> None:
        self.label, self.checks, self.n = label, checks, n
        self.is_simulated, self.excluded_at = False, None
        vars(self).update(given)


def evidence(
    people: Sequence[Person],
    agreement: AgreementLine | None = GOOD,
    seconds: float | None = 20.0,
    **given: Any,
) -> judging.Evidence:
    """Evidence on annotators who took the given seconds where at least 2 are needed."""
    report: Any = type("Report", (), {"annotators": people})
    speeds = [] if seconds is None else [
        judging.Speed(one.label, one.n, seconds, 2.0, is_impossible=seconds < 2) for one in people
    ]  # fmt: skip
    return judging.Evidence(report, agreement, speeds, **given)


def crowd(n: int, failing: int) -> list[Person]:
    return [Person(f"P{i}", rate(1 if i < failing else 9, 10)) for i in range(n)]


def codes(found: Sequence[Reason]) -> dict[str, str]:
    """The severities of reasons by code; pages have a mark, a heading and a tab for each."""
    assert all(brief(one) and TOPICS[one.code] and TABS[one.page] for one in found)
    return {reason.code: reason.severity.value for reason in found}


def test_good_judgments_give_no_reason() -> None:
    assert judging.reasons_of(evidence(crowd(200, 0))) == []
    assert verdict_of([]) == Verdict.NO_LIMITS


@pytest.mark.parametrize(
    ("failing", "severity"), [(5, "note"), (20, "limits"), (100, "invalidates")]
)
def test_failed_controls_weigh_by_the_judgments_they_touch(failing: int, severity: str) -> None:
    """In a crowd of 200 some fail by chance."""
    assert codes(judging.reasons_of(evidence(crowd(200, failing)))) == {"controls_failed": severity}


def test_controls_too_few_for_each_are_enough_for_all() -> None:
    """0 of 3 traps passed by each of three: nobody fails alone, all together do."""
    few = [Person(f"P{i}", rate(0, 3)) for i in range(3)]
    (reason,) = judging.reasons_of(evidence(few))
    assert (reason.code, reason.severity) == ("controls_failed", Severity.INVALIDATES)
    assert reason.text.code == "trust.controls-failed-together"
    assert reason.text.parameters == {"passed": 0, "items": 9}
    passed = [Person(f"P{i}", rate(3, 3)) for i in range(3)]
    assert codes(judging.reasons_of(evidence(passed))) == {"controls_few": "limits"}


def test_a_campaign_without_control_items() -> None:
    untested = [Person(f"P{i}", rate(0, 0)) for i in range(3)]
    assert codes(judging.reasons_of(evidence(untested))) == {"controls_none": "limits"}


def test_no_agreement_invalidates_unless_control_items_are_passed() -> None:
    untested = [Person(f"P{i}", rate(0, 0)) for i in range(3)]
    found = codes(judging.reasons_of(evidence(untested, NONE)))
    assert found["agreement_none"] == "invalidates"
    assert codes(judging.reasons_of(evidence(crowd(3, 0), NONE))) == {"agreement_none": "limits"}


def test_the_alpha_that_counts_is_that_of_the_scores_shown() -> None:
    assert codes(judging.reasons_of(evidence(crowd(3, 0), GOOD, is_raw=True))) == {
        "agreement_none": "limits"
    }


@pytest.mark.parametrize(
    "row",
    [None, agreed(4, (0.9, None)), agreed(2, (1.0, (None, None)))],
)
def test_agreement_without_an_interval_is_unknown(row: AgreementLine | None) -> None:
    assert codes(judging.reasons_of(evidence(crowd(3, 0), row))) == {"agreement_unknown": "limits"}


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (None, "trust.agreement-no-output"),
        (agreed(40, (None, None)), "trust.agreement-constant"),
        (agreed(40, (1.0, (None, None))), "trust.agreement-perfect"),
        (agreed(4, (0.9, None)), "trust.agreement-few"),
    ],
)
def test_agreement_that_is_unknown_has_its_own_cause(row: AgreementLine | None, code: str) -> None:
    (reason,) = judging.reasons_of(evidence(crowd(3, 0), row))
    assert reason.text.code == code
    assert reason.text.parameters == ({"n": row.n_units} if row else {})


def test_speed_that_nobody_reads_at() -> None:
    people = crowd(4, 0)
    assert codes(judging.reasons_of(evidence(people, seconds=0.3))) == {
        "impossible_speed": "invalidates"
    }
    assert codes(judging.reasons_of(evidence(people, seconds=None))) == {"no_times": "note"}
    young = evidence(people, seconds=None, n_timed=8)
    assert codes(judging.reasons_of(young)) == {"few_times": "note"}
    mixed = evidence(people)
    fast = replace(mixed.speeds[0], seconds=0.3, is_impossible=True)
    mixed = replace(mixed, speeds=[fast, *mixed.speeds[1:]])
    assert codes(judging.reasons_of(mixed)) == {"impossible_speed": "limits"}


def test_reasons_about_who_judged() -> None:
    one = [Person("P1", rate(9, 10))]
    assert codes(judging.reasons_of(evidence(one))) == {"one_annotator": "limits"}
    some = [*crowd(3, 0), Person("P9", rate(0, 10), excluded_at="2026-03-01")]
    found = judging.reasons_of(evidence(some))
    assert codes(found) == {"excluded": "note"}
    assert (found[0].text.parameters["n"], found[0].text.parameters["total"]) == (1, 4)
    assert brief(found[0]).code == "mark.excluded"
    robots = [Person(f"S{i}", rate(9, 10), is_simulated=True) for i in range(2)]
    assert codes(judging.reasons_of(evidence(robots))) == {"simulated": "limits"}


@pytest.mark.parametrize(
    ("size", "found"),
    [
        ((6, 100, 100), {}),
        ((6, 100, 100, 20, 20.0), {}),
        ((6, 100, 100, 30, 19.9), {"few_documents": "note"}),
        ((6, 100, 100, 1, 1.0), {"few_documents": "limits"}),
        ((5, 100, 100), {"few_systems": "limits"}),
        ((6, 99, 99), {"few_segments": "note"}),
        ((6, 19, 19), {"few_segments": "limits"}),
        # 46 of 511 segments with two judged systems: published data of WMT17.
        ((14, 511, 46), {"sparse": "limits"}),
        ((6, 100, 19), {"sparse": "limits"}),
        ((1, 200, 0), {"few_systems": "limits"}),
    ],
)
def test_too_little_of_something(size: tuple[Any, ...], found: dict[str, str]) -> None:
    assert codes(amount.reasons_of(amount.Amount(*size))) == found


def test_amounts_are_counted_on_the_scores() -> None:
    values = np.array([[1.0, 2.0, np.nan, np.nan], [1.0, np.nan, np.nan, np.nan], [np.nan] * 4])
    fields = {"values": values, "published_systems": None, "clusters": np.array([0, 1])}
    human: Any = type("Human", (), fields)
    assert amount.amount_of(human) == amount.Amount(2, 2, 1)
    human.clusters = np.array([1, 1])
    assert amount.amount_of(human) == amount.Amount(2, 2, 1, 1, 1.0)
    human.published_systems = np.array([np.nan, np.nan, 3.0])
    assert amount.amount_of(human).n_systems == 3


def test_reading_rates() -> None:
    """238 words a minute (Brysbaert 2019), four times as fast: 952."""
    assert seconds_to_read("word " * 952, "en") == pytest.approx(60)
    assert seconds_to_read("字 " * 4 * 357, "ja") == pytest.approx(60)


def test_a_recording_is_not_read(db: None) -> None:
    """Beside a source that is heard, only the output is: four words, at 952 a minute."""
    campaign = plant("segment-da", sources=["听写"], outputs=[["The harbour was quiet."]])
    person, item = campaign.annotators.get(), campaign.items.get()
    row = person.assignments.get(item=item)
    Judgment.objects.create(assignment=row, score=1, submit_key=uuid.uuid4())
    campaign.test_set.segments.update(beside={"is_source": True})
    judged = read_judgments(campaign, Filters())[0]
    assert verdict.least_seconds(campaign, judged).tolist() == [pytest.approx(60 * 4 / 952)]


def test_random_clicks(db: None) -> None:
    campaign = make_clicked()
    found = verdict.compute(campaign, Filters())
    assert found.verdict == Verdict.DO_NOT_USE
    gravest = {r.code for r in found.reasons if r.severity == Severity.INVALIDATES}
    assert gravest == {"impossible_speed", "controls_failed", "agreement_none"}
    assert (found.n_systems, found.n_segments) == (3, 10)
    # Control items count also where the filters exclude them.
    again = verdict.compute(campaign, Filters(traps="out"))
    assert "controls_failed" in codes(again.reasons)
    # Impossible times of an imported log count as missing.
    Judgment.objects.update(started_at="2026-03-02T08:00Z", submitted_at="2026-03-02T08:00Z")
    Campaign.objects.update(origin=Campaign.Origin.IMPORTED)
    caching.clear_caches()
    campaign.refresh_from_db()
    again = verdict.compute(campaign, Filters())
    assert "no_times" in codes(again.reasons)


def test_careful_judgments_are_not_buried(db: None) -> None:
    """Simulated readers of a known truth: nothing invalidates."""
    campaign = make_rated()
    Judgment.objects.filter(assignment__item__kind="trap").update(score=0)
    found = verdict.compute(campaign, Filters())
    assert found.verdict == Verdict.LIMITED
    few = {"few_systems", "few_segments", "few_documents"}
    assert codes(found.reasons).keys() == {"simulated", *few}
    Annotator.objects.update(is_simulated=False)
    assert "simulated" not in codes(verdict.compute(campaign, Filters()).reasons)


def test_an_empty_campaign_and_published_scores(world: World, db: None) -> None:
    assert verdict.compute(world.campaign, Filters()).verdict == Verdict.NOTHING
    for output in world.campaign.systems.first().outputs.all():  # type: ignore[union-attr]
        world.campaign.published_scores.create(output=output, value=1.0)
    found = verdict.compute(world.campaign, Filters())
    assert found.verdict == Verdict.LIMITED
    assert found.reasons[0].code == "judgments_missing"


def compared(*ends: tuple[float | None, float | None], **given: object) -> Comparison:
    """The first is better than all others, which are alike."""
    metrics = [
        typed.metric(f"m{i}", 0.5 - i / 10, low=low, high=high)
        for i, (low, high) in enumerate(ends)
    ]
    n = len(ends)
    p = [[0.001 if i == 0 else 0.999 if j == 0 else 0.5 for j in range(n)] for i in range(n)]
    pvalues = [[None if i == j else p[i][j] for j in range(n)] for i in range(n)]
    return typed.comparison(**{"metrics": metrics, "pvalues": pvalues} | given)


RANKS = {"m0": 1, "m1": 2, "m2": 2}
ALIKE = [[None if i == j else 0.5 for j in range(3)] for i in range(3)]
CLEAR = ((0.3, 0.5), (0.1, 0.2), (0.05, 0.2))
FINE = typed.trusted()
OVER_SYSTEMS = compared(*CLEAR, statistic="cells", level=SYSTEM)


def test_supported_ranks_are_shown() -> None:
    found = marks.marking(FINE, compared(*CLEAR))
    assert (found.ranks, found.best) == (RANKS, {"m0"})


def test_the_limit_of_hybrids_asks_about_these_systems_however_few() -> None:
    asked = compared(*CLEAR, statistic="limit", level=SYSTEM)
    assert marks.marking(typed.trusted(n_systems=3), asked).ranks == RANKS


@pytest.mark.parametrize(
    ("trust", "document", "code"),
    [
        (None, compared(*CLEAR), "marks.verdict-unknown"),
        (typed.trusted(verdict=Verdict.DO_NOT_USE), compared(*CLEAR), "marks.do-not-use"),
        (typed.trusted(n_systems=5), OVER_SYSTEMS, "marks.few-systems"),
        (FINE, compared(*CLEAR, statistic="hybrids", is_of_draws=True), "marks.over-hybrids"),
        (FINE, compared(*CLEAR, pvalues=ALIKE), "marks.one-cluster"),
        (FINE, compared((-0.1, 0.5), (-0.2, 0.2), (None, None)), "marks.at-chance"),
        (FINE, compared(*[(0.3, 0.5)] * 3, chance=0.5), "marks.at-chance"),
        (FINE, compared(*[(None, None)] * 3), "marks.no-intervals"),
        (FINE, compared((0.3, 0.5)), "marks.alone"),
        (FINE, None, "marks.pending"),
    ],
)
def test_nothing_is_marked_without_support(
    trust: CampaignTrust | None, document: Comparison | None, code: str
) -> None:
    found = marks.marking(trust, document)
    assert (dict(found.ranks), found.best) == ({}, frozenset())
    assert [each.code for each in found.notes] == [code]


def test_a_metric_whose_interval_includes_zero_has_no_rank() -> None:
    found = marks.marking(FINE, compared((0.3, 0.5), (-0.1, 0.2), (-0.4, -0.2)))
    assert (found.ranks, found.best) == ({"m0": 1, "m2": 2}, {"m0"})
    (reason,) = marks.uncertain(compared((0.3, 0.5), (-0.1, 0.2)))
    assert reason.severity == Severity.NOTE
    (reason,) = marks.uncertain(compared((-0.3, 0.5), (None, None)))
    assert with_reasons(FINE, [reason]).verdict == Verdict.LIMITED
    assert codes([reason]) == {"intervals_hold_chance": "limits"}
    assert marks.uncertain(compared(*CLEAR)) == []


def ranked(mark: str, clusters: Sequence[int], **trust: Any) -> Systems:
    human = [
        typed.row("human", f"s{i}", i, cluster=cluster, first=1, last=2, wins=1)
        for i, cluster in enumerate(clusters)
    ]
    rows = [typed.row("chrf", "s0", 0, mark=mark), typed.row("chrf", "s1", 1)]
    return typed.systems(human=human, columns=[typed.column(rows)], trust=typed.trusted(**trust))


def test_marks_of_systems() -> None:
    shown = marked(ranked("†", (1, 2)))
    assert [each.is_best for each in shown.columns[0].rows] == [True, False]
    shown = marked(ranked("", (1, 1)))
    assert not any(each.is_best for each in shown.columns[0].rows)
    assert {each.cluster for each in shown.human} == {None}
    assert shown.marks
    bare = marked(ranked("‡", (1, 2), verdict=Verdict.DO_NOT_USE))
    assert bare.rows
    for each in bare.rows:
        assert (each.cluster, each.rank, each.mark) == (None, None, "")


def test_a_study_has_the_verdict_of_its_worst_campaign() -> None:
    fine = typed.trusted(campaign="a", name="A")
    text, advice = message("test.text", "3 marks."), message("test.advice", "More.")
    limits = Reason("few_systems", Severity.LIMITS, text, advice, "systems")
    some = with_reasons(fine, [limits])
    found = worst_of([fine, some, replace(some, campaign="b", name="B")])
    assert found is not None
    assert found.verdict == Verdict.LIMITED
    assert [(str(r.scope), r.campaign) for r in found.reasons] == [("A and B", "a")]
    assert comments(found).splitlines()[1] == "% - Systems (limits): A and B: 3 marks."
    assert worst_of([fine, None]) is None
    bad = replace(fine, verdict=Verdict.DO_NOT_USE)
    found = worst_of([fine, bad])
    assert found is not None
    assert found.verdict == Verdict.DO_NOT_USE
    assert found.summary.code == "verdict.do-not-use-several"
    assert found.summary.parameters == {"n": 1, "total": 2}


def test_pages_say_why_nothing_is_bold(world: World, as_researcher: Client) -> None:
    address = f"/campaigns/{make_clicked().slug}"
    page = as_researcher.get(f"{address}/correlations/").text
    assert 'data-verdict="do-not-use"' in page
    assert tells(page, "marks.do-not-use")
    lines = as_researcher.get(f"{address}/correlations.csv").getvalue().decode().splitlines()
    assert lines[0].startswith("campaign,")


def test_progress_names_annotators_who_were_too_fast(as_researcher: Client) -> None:
    hasty, careful = make_clicked(), make_clicked("careful", seconds=60.0)
    for campaign, n in ((hasty, 3), (careful, 0)):
        address = reverse("monitor", args=[campaign.slug])
        page = as_researcher.get(address).text
        assert page.count("too fast to have read</span>") == n
        assert ('badge good">finished' in page) == (n == 0)
        found = as_researcher.get(reverse("monitor-data", args=[campaign.slug])).json()
        assert len(found["too_fast"]) == n
