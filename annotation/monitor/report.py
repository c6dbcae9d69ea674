"""The state of a campaign: every annotator's progress, pace and control items.

The number of queries does not depend on the number of annotators.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.models import Campaign
from annotation.models.assignment import Counts, count_by_annotator, count_practice, count_wanted
from annotation.monitor.answers import HOURS, Answers, figures_of, read_answers
from annotation.monitor.controls import Repeats, Share, results_of
from annotation.quality.verdict import ITEMS
from metaeval.messages import Message, message, plural

AT_WORK = timedelta(minutes=10)


@dataclass(frozen=True)
class AnnotatorState:
    """One annotator.

    `seconds` is the median paid time of an item, None before the first one; `seconds_left` is that
    times the number of open items. `done` and `total` do not count practice. `paid_ms` is the sum
    of all judgments, revisions included; `n_doubtful` counts judgments with impossible reported
    times. `last_day` counts the judgments of the last 24 hours; `last` is the time of the last
    one, None if no judgment has a time.
    """

    pk: int
    label: str
    is_simulated: bool
    state: str
    done: int
    total: int
    seconds: float | None
    seconds_left: float | None
    last_day: int
    paid_ms: int
    n_doubtful: int
    traps: Share
    gold: Share
    repeats: Repeats
    n_remarks: int
    last: datetime | None

    @property
    def state_label(self) -> Message:
        """The state in words."""
        return STATES[self.state]


STATES = {
    "new": message("annotator.new", "not started"),
    "working": message("annotator.working", "active"),
    "idle": message("annotator.idle", "idle"),
    "done": message("annotator.done", "finished"),
    "excluded": message("annotator.excluded", "excluded"),
}


@dataclass(frozen=True)
class Hour:
    """The number of judgments in the hour that begins at `start`."""

    start: datetime
    n: int


@dataclass(frozen=True)
class MonitorReport:
    """The state of a campaign; `per_hour` is the mean of the last 24 hours or since opening."""

    as_of: datetime
    annotators: Sequence[AnnotatorState]
    done: int
    total: int
    hours: Sequence[Hour]
    per_hour: float | None
    finish_at: datetime | None
    is_complete: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_remarks(self) -> int:
        """The number of flags and comments of all annotators."""
        return sum(one.n_remarks for one in self.annotators)

    @property
    def tested(self) -> Message:
        """How many annotators have rated enough traps or gold items to be assessed."""
        counted = [one for one in self.annotators if one.state != "excluded"]
        answered = [max(one.traps.of, one.gold.of) for one in counted]
        n = sum(count >= ITEMS for count in answered)
        if n:
            return plural(
                "monitor.assessed",
                "{n} of {total} annotators has rated enough traps or gold items ({items}) to be "
                "assessed.",
                "{n} of {total} annotators have rated enough traps or gold items ({items}) to be "
                "assessed.",
                n=n,
                total=len(counted),
                items=ITEMS,
            )
        return message(
            "monitor.nobody-assessed",
            "No annotator has rated enough traps or gold items ({items}) to be assessed; the most "
            "that one has rated is {most}.",
            items=ITEMS,
            most=max(answered, default=0),
        )

    @property
    def busiest(self) -> int:
        """The number of judgments in the busiest hour, at least 1: the scale of the bars."""
        return max([hour.n for hour in self.hours], default=0) or 1


def monitor_report(campaign: Campaign) -> MonitorReport:
    """Compute the state of a campaign."""
    now = timezone.now()
    people = _people(campaign)
    counted = [person for person in people if person["excluded_at"] is None]
    done, total, is_complete = count_wanted(
        campaign,
        sum(person["rated"] for person in counted),
        sum(person["open"] for person in counted),
    )
    answers = read_answers(campaign)
    annotators = _annotators(campaign, people, answers, now)
    hours = _hours(answers, now)
    last_day = sum(hour.n for hour in hours)
    rate = _rate(campaign, last_day, now)
    finish = now + timedelta(hours=(total - done) / rate) if rate and done < total else None
    return MonitorReport(
        as_of=now,
        annotators=annotators,
        done=done,
        total=total,
        hours=hours,
        per_hour=rate,
        finish_at=finish if campaign.status == Campaign.Status.OPEN else None,
        is_complete=is_complete,
        counts={state: sum(one.state == state for one in annotators) for state in STATES},
    )


def _people(campaign: Campaign) -> list[dict[str, Any]]:
    """Return every annotator with the counts of their assignments, of which practice is no part."""
    fields = ("pk", "label", "is_simulated", "excluded_at")
    people = campaign.annotators.order_by("pk").values(*fields)
    counts = count_by_annotator(campaign.annotators.all(), with_open=True)
    practice = count_practice([campaign])
    found = []
    for person in people:
        _, own = counts.get(person["pk"], (campaign.pk, Counts()))
        rated, still_open = practice.get(person["pk"], (0, 0))
        found.append(
            person
            | {"done": own.answered, "total": own.answered + own.open}
            | {"rated": own.answered - rated, "open": own.open - still_open}
        )
    return found


def _annotators(
    campaign: Campaign, people: Sequence[Mapping[str, Any]], known: Answers, now: datetime
) -> list[AnnotatorState]:
    answers = figures_of(known, now - timedelta(hours=HOURS))
    controls = results_of(campaign, known.controls)
    return [
        _annotator(person, answers.get(person["pk"], {}), controls.get(person["pk"], {}), now)
        for person in people
    ]


def _annotator(
    person: Mapping[str, Any],
    answers: Mapping[str, Any],
    controls: Mapping[str, Any],
    now: datetime,
) -> AnnotatorState:
    done, total, last = person["done"], person["total"], answers.get("last")
    seconds = answers.get("seconds")
    return AnnotatorState(
        pk=person["pk"],
        label=person["label"],
        is_simulated=person["is_simulated"],
        state=_state(person["excluded_at"], done, total, last, now),
        done=person["rated"],
        total=person["rated"] + person["open"],
        seconds=seconds,
        seconds_left=None if seconds is None else seconds * (total - done),
        last_day=answers.get("n_lately", 0),
        paid_ms=answers.get("paid_ms", 0),
        n_doubtful=answers.get("n_doubtful", 0),
        traps=controls.get("traps", Share()),
        gold=controls.get("gold", Share()),
        repeats=controls.get("repeats", Repeats()),
        n_remarks=answers.get("n_remarks", 0),
        last=last,
    )


def _state(
    excluded_at: datetime | None, done: int, total: int, last: datetime | None, now: datetime
) -> str:
    if excluded_at is not None:
        return "excluded"
    if not done:
        return "new"
    if done >= total:
        return "done"
    return "working" if last is not None and now - last <= AT_WORK else "idle"


def _hours(answers: Answers, now: datetime) -> list[Hour]:
    """Return the number of items answered in each of the last 24 hours, oldest first.

    Imported judgments without times are not counted: they were completed before the import.
    """
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    starts = [this_hour - timedelta(hours=HOURS - 1 - step) for step in range(HOURS)]
    bounds = [*(start.timestamp() for start in starts), inf]
    counts, _ = np.histogram(answers.lately["completed"], bounds)
    return [Hour(start, n) for start, n in zip(starts, counts.tolist(), strict=True)]


def _rate(campaign: Campaign, last_day: int, now: datetime) -> float | None:
    """Return judgments per hour over the last 24 hours, or since the campaign opened."""
    if not last_day:
        return None
    opened = campaign.opened_at or now - timedelta(hours=HOURS)
    return last_day / min(HOURS, max(1.0, (now - opened).total_seconds() / 3600))
