"""The live monitor: who is where, how fast, how well; never more queries for more people."""

import uuid
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import monitor
from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.monitor import monitor_report
from dashboards.models import Analysis
from dashboards.monitor import AGREEMENT_SECONDS, agreement_so_far
from tests.dashboards.documents.working import compute_waiting
from tests.world import World


def opened(world: World) -> Campaign:
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign = open_campaign(campaign=world.campaign)
    return world.campaign


def rate(
    assignment: Assignment, score: int, *, at: datetime | None = None, **fields: object
) -> Judgment:
    """Store an answer as `judgments.submit` would, at any time."""
    at = at or timezone.now()
    assignment.completed_at = at
    assignment.save(update_fields=["completed_at"])
    given: dict[str, object] = {"paid_ms": 4_000, "started_at": at - timedelta(seconds=4)}
    return Judgment.objects.create(
        assignment=assignment,
        score=score,
        submit_key=uuid.uuid4(),
        submitted_at=at,
        **(given | fields),
    )


def of(campaign: Campaign, label: str, *kinds: str) -> list[Assignment]:
    rows = Assignment.objects.filter(annotator__campaign=campaign, annotator__label=label)
    rows = rows.filter(item__kind__in=kinds) if kinds else rows
    return list(rows.select_related("item").order_by("position"))


def state(campaign: Campaign, label: str) -> monitor.AnnotatorState:
    return next(one for one in monitor_report(campaign).annotators if one.label == label)


def test_progress_speed_and_time_left(world: World) -> None:
    campaign = opened(world)
    own = of(campaign, "A1")
    for assignment, paid in zip(own, (2_000, 9_000, 3_000), strict=False):
        rate(assignment, 50, paid_ms=paid)
    one = state(campaign, "A1")
    assert (one.done, one.total, one.state) == (3, len(own), "working")
    assert one.seconds == 3.0
    assert one.seconds_left == 3.0 * (len(own) - 3)
    assert one.paid_ms == 14_000
    assert state(campaign, "A2").state == "new"
    assert state(campaign, "A2").seconds_left is None


def test_states(world: World) -> None:
    campaign = opened(world)
    eleven = timezone.now() - timedelta(minutes=11)
    rate(of(campaign, "A1")[0], 50, at=eleven)
    for assignment in of(campaign, "A2"):
        rate(assignment, 50, at=eleven)
    Annotator.objects.filter(campaign=campaign, label="A3").update(excluded_at=eleven)
    report = monitor_report(campaign)
    assert [one.state for one in report.annotators] == ["idle", "done", "excluded"]
    assert report.counts["working"] == 0
    rate(of(campaign, "A1")[1], 50)
    assert state(campaign, "A1").state == "working"


def test_a_revision_is_paid_but_no_progress(world: World) -> None:
    campaign = opened(world)
    assignment = of(campaign, "A1")[0]
    rate(assignment, 50, is_current=False, is_flagged=True)
    rate(assignment, 60, revision=2, paid_ms=6_000)
    one = state(campaign, "A1")
    assert (one.done, one.paid_ms, one.seconds, one.n_remarks) == (1, 10_000, 6.0, 0)
    assert sum(hour.n for hour in monitor_report(campaign).hours) == 1


def test_traps_gold_and_repeats(world: World) -> None:
    campaign = opened(world)
    for assignment, score in zip(of(campaign, "A1", "trap"), (20, 21), strict=True):
        rate(assignment, score)
    target, other = of(campaign, "A1", "target")[:2]
    rate(target, 70)
    rate(other, 40)
    annotator = target.annotator
    for number, (kind, partner, score) in enumerate(
        [("repeat", target.item, 64), ("repeat", other.item, 50), ("gold", None, 80)]
    ):
        bounds = {"low": 80, "high": 90} if kind == "gold" else {}
        item = Item.objects.create(
            campaign=campaign, kind=kind, segment=target.item.segment, partner=partner,
            output=target.item.output, batch=str(number), **bounds,
        )  # fmt: skip
        extra = Assignment.objects.create(annotator=annotator, item=item, position=900 + number)
        rate(extra, score)
    one = state(campaign, "A1")
    assert (one.traps.n, one.traps.of, one.traps.share) == (1, 2, 0.5)
    assert (one.gold.n, one.gold.of) == (1, 1)
    assert (one.repeats.n, one.repeats.difference) == (2, 8.0)
    assert state(campaign, "A2").traps.share is None


def test_doubtful_times_and_remarks_are_counted(world: World) -> None:
    campaign = opened(world)
    first, second, third = of(campaign, "A1")[:3]
    rate(first, 50, time_doubt="longer", comment="No verb.")
    rate(second, 50, time_doubt="missing", is_flagged=True)
    rate(third, 50)
    one = state(campaign, "A1")
    assert (one.n_doubtful, one.n_remarks) == (2, 2)


def test_pace_and_estimated_finish(world: World) -> None:
    campaign = opened(world)
    now = timezone.now()
    Campaign.objects.filter(pk=campaign.pk).update(opened_at=now - timedelta(hours=10))
    campaign.refresh_from_db()
    for assignment in of(campaign, "A1")[:4]:
        rate(assignment, 50, at=now - timedelta(minutes=1))
    rate(of(campaign, "A2")[0], 50, at=now - timedelta(hours=30))
    report = monitor_report(campaign)
    assert report.per_hour == pytest.approx(4 / 10, rel=0.01)
    assert report.finish_at is not None
    hours = (report.finish_at - report.as_of).total_seconds() / 3600
    assert hours == pytest.approx((report.total - 5) / 0.4, rel=0.01)
    assert len(report.hours) == 24
    assert monitor_report(close_campaign(campaign=campaign)).finish_at is None


def test_imported_answers_were_not_given_today(world: World, tmp_path: Path) -> None:
    """Without a time they are done since the import, which is no time at which anybody worked."""
    path = tmp_path / "own.tsv"
    path.write_text(
        "annotator\tsegment\tsystem\tscore\ttime\n"
        "R1\t1\tstrong\t80\t\nR2\t1\tstrong\t60\t2021-08-05T10:00:00Z\n"
    )
    call_command("import_judgments", path, test_set="harbour", name="Later", stdout=StringIO())
    campaign = Campaign.objects.get(slug="later")
    report = monitor_report(campaign)
    assert (report.done, report.per_hour, sum(hour.n for hour in report.hours)) == (2, None, 0)
    assert [one.state for one in report.annotators] == ["done", "done"]
    assert state(campaign, "R1").last is None
    assert state(campaign, "R2").last == datetime(2021, 8, 5, 10, tzinfo=UTC)


def test_what_is_wanted_leaves_out_practice_and_excluded(world: World) -> None:
    campaign = opened(world)
    assigned = Assignment.objects.filter(annotator__campaign=campaign)
    done, total, is_complete = monitor.wanted(campaign)
    assert (done, total, is_complete) == (0, assigned.count(), False)
    Annotator.objects.filter(campaign=campaign, label="A3").update(excluded_at=timezone.now())
    for label in ("A1", "A2"):
        for assignment in of(campaign, label):
            rate(assignment, 50)
    released = of(campaign, "A1")[0]
    practice = Item.objects.create(
        campaign=campaign, kind="tutorial", segment=released.item.segment, text="x"
    )
    Assignment.objects.create(annotator=released.annotator, item=practice, position=950)
    done, total, is_complete = monitor.wanted(campaign)
    assert done == total == len(of(campaign, "A1")) - 1 + len(of(campaign, "A2"))
    assert is_complete


def test_an_open_pool_wants_what_nobody_has_claimed(world: World) -> None:
    campaign = opened(world)
    Assignment.objects.filter(annotator__campaign=campaign).delete()
    Campaign.objects.filter(pk=campaign.pk).update(assignment_mode="pool")
    campaign.refresh_from_db()
    items = list(campaign.items.filter(kind="target"))
    for number, item in enumerate(items):
        # Two items a screen; the first item of a screen has what it still needs.
        item.screen, item.place, item.wanted = number // 2, number % 2, 3 * (number % 2 == 0)
        item.save()
    assert monitor.wanted(campaign) == (0, 3 * len(items), False)
    annotator = campaign.annotators.get(label="A1")
    Item.objects.filter(pk=items[0].pk).update(wanted=2)
    claim, other = (
        Assignment.objects.create(annotator=annotator, item=item, position=place)
        for place, item in enumerate(items[:2])
    )
    assert monitor.wanted(campaign) == (0, 3 * len(items), False)
    rate(claim, 50)
    Assignment.objects.filter(pk=other.pk).update(released_at=timezone.now())
    campaign.items.update(wanted=0)
    assert monitor.wanted(campaign) == (1, 1, True)


def test_agreement_equals_an_independent_computation(world: World) -> None:
    """Its module has scipy loaded, which browser tests take a helper from this one without."""
    from tests.metaeval.judgments.test_agreement_intervals import one_vs_rest

    campaign = opened(world)
    rng = np.random.default_rng(4)
    for label in ("A1", "A2", "A3"):
        for assignment in of(campaign, label, "target"):
            rate(assignment, int(rng.integers(0, 40) + 10 * assignment.item.segment.position))
    table = np.full((3, 8), np.nan)
    outputs = sorted(item.output_id for item in campaign.items.filter(kind="target"))
    for row, label in enumerate(("A1", "A2", "A3")):
        for judgment in Judgment.objects.filter(
            assignment__annotator__label=label, assignment__item__kind="target"
        ):
            table[row, outputs.index(judgment.assignment.item.output_id)] = judgment.score
    z = (table - np.nanmean(table, axis=1, keepdims=True)) / np.nanstd(
        table, axis=1, ddof=1, keepdims=True
    )
    found = agreement_so_far(campaign).document
    assert found is not None
    figures = found.figures
    assert figures["one_vs_rest"].statistic == pytest.approx(one_vs_rest(z))
    assert figures["one_vs_rest"].interval is not None
    assert figures["alpha_raw"].statistic == pytest.approx(
        krippendorff.alpha(table, level_of_measurement="interval")
    )


def n_units(campaign: Campaign) -> int | None:
    """Outputs rated by two or more, as the monitor knows them now."""
    document = agreement_so_far(campaign).document
    return None if document is None else document.n_units


def test_agreement_is_kept_for_a_while(world: World) -> None:
    campaign = opened(world)
    assert n_units(campaign) == 0
    for number, label in enumerate(("A1", "A2", "A3")):
        for assignment in of(campaign, label, "target"):
            rate(assignment, 50 + number + assignment.item.segment.position)
    assert n_units(campaign) == 0
    earlier = timezone.now() - timedelta(seconds=AGREEMENT_SECONDS + 1)
    Analysis.objects.filter(kind="agreement").update(as_of=earlier)
    assert n_units(campaign) == 8


def test_targets_without_an_output_are_no_unit_together(world: World) -> None:
    """Human translations of imported data are targets whose text is no output here."""
    campaign = opened(world)
    first, second = of(campaign, "A1", "target")[:2]
    other = next(one for one in of(campaign, "A2", "target") if one.item_id == second.item_id)
    rate(first, 20)
    rate(other, 80)
    campaign.items.filter(pk__in=[first.item_id, second.item_id]).update(output=None)
    assert n_units(campaign) == 0


def queries_of(client: Client, address: str) -> int:
    client.get(address)  # Has agreement computed, here in place.
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


def test_more_annotators_need_no_more_queries(world: World, as_researcher: Client) -> None:
    campaign = opened(world)
    address = reverse("monitor", args=[campaign.slug])
    for label in ("A1", "A2"):
        for assignment in of(campaign, label)[:2]:
            rate(assignment, 50)
    few = queries_of(as_researcher, address)
    # Two ask who may see and run the campaign, four for the facts in its head, one who is in it,
    # one what workers computed of speed, one who was stopped, five what is flagged,
    # eight what came since the last look.
    assert few <= 29
    item = campaign.items.first()
    for number in range(30):
        annotator = Annotator.objects.create(
            campaign=campaign, label=f"B{number}", user=User.objects.create(username=f"b{number}")
        )
        rate(Assignment.objects.create(annotator=annotator, item=item, position=0), 40)
    assert queries_of(as_researcher, address) == few


def test_the_page_and_its_data(world: World, as_researcher: Client) -> None:
    campaign = opened(world)
    rate(of(campaign, "A1")[0], 50, comment="No <verb>.", is_flagged=True)
    page = as_researcher.get(reverse("monitor", args=[campaign.slug]))
    assert {one.state for one in page.context["report"].annotators} == {"new", "working"}
    assert "data-live" in page.text
    part = as_researcher.get(
        reverse("monitor", args=[campaign.slug]), headers={"HX-Request": "true"}
    )
    assert part.text.lstrip().startswith('<div id="monitor"')
    data = as_researcher.get(reverse("monitor-data", args=[campaign.slug])).json()
    assert data["annotators"][0]["done"] == data["done"] == 1
    assert data["total"] == Assignment.objects.count()
    remarks = as_researcher.get(reverse("monitor-remarks", args=[campaign.slug]))
    assert "No &lt;verb&gt;." in remarks.text
    assert "flagged" in remarks.text
    none = as_researcher.get(reverse("monitor-remarks", args=[campaign.slug]), {"annotator": "A2"})
    assert "<tbody>" not in none.text


def test_a_draft_has_a_monitor_too(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("monitor", args=[world.campaign.slug]))
    assert "data-no-annotators" in page.text


def test_annotators_and_strangers_see_nothing(world: World, client: Client) -> None:
    campaign = opened(world)
    for name in ("monitor", "monitor-data", "monitor-remarks"):
        address = reverse(name, args=[campaign.slug])
        assert client.get(address).status_code == 302
        client.force_login(world.annotators[0])
        assert client.get(address).status_code == 403
        client.logout()


def test_no_verdict_is_shown_before_it_is_computed(
    world: World, as_researcher: Client, settings: Any
) -> None:
    settings.ANALYSES_IN_PLACE = False
    address = reverse("monitor", args=[opened(world).slug])
    assert as_researcher.get(address).text.count('data-case="pending"') == len(world.annotators)
    compute_waiting()
    assert 'data-case="pending"' not in as_researcher.get(address).text


@pytest.mark.parametrize("agrees", [False, True])
def test_agreement_that_may_be_chance_needs_attention(
    world: World, as_researcher: Client, agrees: bool
) -> None:
    campaign = opened(world)
    rng = np.random.default_rng(2)
    for label in ("A1", "A2", "A3"):
        for assignment in of(campaign, label, "target"):
            same = 10 * assignment.item.segment.position + 3 * (assignment.item.output_id % 3)
            rate(assignment, int(same if agrees else rng.integers(0, 101)))
    page = as_researcher.get(reverse("monitor", args=[campaign.slug]))
    codes = [text.code for text, _ in page.context["attention"]]
    assert ("attention.no-agreement" in codes) is not agrees
