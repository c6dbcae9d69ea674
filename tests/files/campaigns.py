"""Small campaigns whose judgments have everything that their protocol and our tables can hold."""

import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from annotation.judging.answers import rated_text
from annotation.judging.judgments import edits_of
from annotation.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    ContextOpening,
    ErrorSpan,
    Item,
    Judgment,
    Output,
    Playback,
    TestSet,
)
from annotation.prefill.suggestions import as_stored, fates, offered
from annotation.protocols import PROTOCOLS, Layout, Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from tests.planting import items_of as planted
from tests.world import make_campaign, make_test_set

BEGIN = datetime(2026, 3, 2, 8, 0, 0, 123456, tzinfo=UTC)
PEOPLE = ("A1", "Zoë 二", "=A3")
# Texts that readers of tables are tempted to change.
COMMENTS = (
    "",
    "one, \"two\"; 'three'",
    "=1+1",
    "'=2",
    "''@x",
    "a\nb\tc",
    "c\r\nd",
    "\x1b[0m\x0c",
    "NA",
    "0",
    " blanks ",
    "二😀",
)
OWN: dict[str, tuple[str, Mapping[str, Any] | None]] = {
    **{name: (name, None) for name in PROTOCOLS},
    "own scales": (
        "segment-da",
        {"scales": [{"name": "Meaning", "min": -3, "max": 3, "labels": {"-3": "none"}},
                    {"name": "Style 2.0", "min": 0, "max": 100, "step": 25}]},
    ),
    "own choices": (
        "esa",
        {"scales": [{"name": "Quality", "min": 1, "max": 5}],
         "choices": [{"name": "Usable", "options": ["yes", "no", "0"]},
                     {"name": "Language", "options": ["en", "other"]}]},
    ),
    "own errors": (
        "mqm",
        {"spans": {"severities": [{"name": "Slip", "weight": 0.5}, {"name": "Bad", "weight": 7}],
                   "categories": [{"name": "Names", "children": [{"name": "People"}]},
                                  {"name": "Other"}],
                   "weights": [{"category": "Names", "severity": "Slip", "weight": 2.5}],
                   "sides": ["target", "source"], "tokens": ["[missing]", "[order]"]}},
    ),
    "score and post-edit": ("segment-da", {"text": "prefilled"}),
    "documents with errors": ("esa", {"segments": "document"}),
    "choices in columns": (
        "contrastive-esa", {"choices": [{"name": "Publish", "options": ["yes", "no"]}]},
    ),
}  # fmt: skip


def make(name: str, *marks: str, ratio: str = "1.00") -> Campaign:
    """A closed campaign of three annotators with the named marks; see MARKS."""
    protocol, answers = OWN[name]
    test_set = _test_set(ratio)
    campaign = make_campaign(
        test_set, "round-trip", name="Round trip, Zoë", protocol=protocol, answers=answers,
        length_ratio=ratio, question="How good?\nReally?", shown_text="source", study="trips",
        z_pool="all", seed=11, status="closed",
    )  # fmt: skip
    rng = random.Random(name)
    items = _items(campaign)
    for item in items:
        item.save()
    targets = [item for item in items if item.kind == Item.Kind.TARGET]
    if "controls" in marks:
        items += _controls(campaign, targets[0])
    if "checks" in marks:
        items += _checks(campaign, targets)
    people = [Annotator.objects.create(campaign=campaign, label=label) for label in PEOPLE]
    for person in people:
        _judge(person, items, rng)
    for mark in marks:
        MARKS[mark](campaign, rng)
    campaign.refresh_from_db()
    return campaign


def _test_set(ratio: str) -> TestSet:
    test_set = make_test_set("harbour", segments=4, ratio=ratio)
    for segment in test_set.segments.all():
        segment.document = f"doc {segment.position // 2}"
        segment.source += " 😀"
        segment.save()
    for output in test_set.systems.get(name="weak").outputs.all():
        output.text = f"{output.text}\n😀 end"
        output.save()
    return test_set


def _items(campaign: Campaign) -> list[Item]:
    """Return the items unsaved; the segments of a document by one system share a screen."""
    protocol = campaign.judging
    if protocol.layout != Layout.DOCUMENT:
        return planted(campaign)
    outputs = Output.objects.filter(system__in=campaign.systems.all()).select_related("segment")
    rows = list(outputs.order_by("system__name", "segment__position"))
    items: list[Item] = []
    groups = groupby(rows, key=lambda row: (row.system_id, row.segment.document))
    for screen, ((system, _), own) in enumerate(groups):
        shown = [
            Item(campaign=campaign, segment=row.segment, output=row, screen=screen, place=place)
            for place, row in enumerate(own)
        ]
        if protocol.rates_documents:
            whole = Item(
                campaign=campaign, kind=Item.Kind.DOCUMENT, segment=shown[0].segment,
                system_id=system, screen=screen, place=len(shown),
            )  # fmt: skip
            shown.append(whole)
        items += shown
    return items


def _controls(campaign: Campaign, target: Item) -> list[Item]:
    """Return an item of each kind of control; gold and practice have no partner."""
    paired: list[dict[str, Any]] = [
        {"kind": Item.Kind.TRAP, "text": "Sentence 0:", "partner": target},
        {"kind": Item.Kind.BAD_REF, "text": "Sentence 0: bad", "partner": target},
        {"kind": Item.Kind.REF, "text": "'=Sentence", "partner": target},
        {"kind": Item.Kind.REPEAT, "output": target.output, "partner": target},
    ]
    on = next(iter(campaign.judging.scales), None)
    bounds = {"low": on.low, "high": on.high} if on else {}
    scheme = campaign.judging.spans
    rules = {"errors": [[0, 2, 3, 9, scheme.severities[0].key]]} if scheme else None
    paired += [
        {"kind": Item.Kind.GOLD, "text": "Gold <b>\ntext 😀", "rules": rules, **bounds},
        {
            "kind": Item.Kind.TUTORIAL,
            "text": "Practice",
            "feedback": "Look:\n<a> &lt;",
            **bounds,
        },
    ]
    return [
        Item.objects.create(campaign=campaign, segment=target.segment, **each) for each in paired
    ]


def _checks(campaign: Campaign, targets: list[Item]) -> list[Item]:
    """Return a bad reference and a repeat, each of another output."""
    own: list[dict[str, Any]] = [
        {"kind": Item.Kind.BAD_REF, "text": "Bad bad", "partner": targets[1]},
        {"kind": Item.Kind.REPEAT, "output": targets[2].output, "partner": targets[2]},
    ]
    return [
        Item.objects.create(campaign=campaign, segment=each["partner"].segment, **each)
        for each in own
    ]


def _judge(person: Annotator, items: list[Item], rng: random.Random) -> None:
    clock = BEGIN + timedelta(days=person.pk % 7)
    for position, item in enumerate(items):
        assignment = Assignment.objects.create(
            annotator=person, item=item, position=2 * position, completed_at=clock
        )
        started, clock = clock, clock + timedelta(seconds=rng.uniform(2, 50))
        add_judgment(assignment, rng, started_at=started, submitted_at=clock)


def add_judgment(assignment: Assignment, rng: random.Random, **fields: Any) -> Judgment:
    """A random answer to an item, as its protocol allows."""
    item, campaign = assignment.item, assignment.annotator.campaign
    protocol = campaign.judging
    if item.kind == Item.Kind.DOCUMENT:
        protocol = protocol.of_document
    values = {
        each.key: rng.randrange(each.low, each.high + 1, each.step) for each in protocol.scales
    }
    score = next(iter(values.values()), None)
    spans = _spans(protocol, item, rng)
    post_edit = " ".join(rated_text(item).split()[: rng.randint(2, 9)]) if protocol.text else None
    judgment = Judgment.objects.create(
        assignment=assignment, score=score, submit_key=uuid.UUID(int=rng.getrandbits(128)),
        ratings={key: value for key, value in values.items() if key},
        choices={each.key: rng.choice(each.options) for each in protocol.choices},
        post_edit=post_edit,
        **edits_of(protocol, item, score=score, post_edit=post_edit, spans=spans),
        **fields,
    )  # fmt: skip
    ErrorSpan.objects.bulk_create([ErrorSpan(judgment=judgment, **vars(span)) for span in spans])
    return judgment


def _spans(protocol: Protocol, item: Item, rng: random.Random) -> list[Span]:
    """Return errors of the output, of the source, and of what is missing."""
    scheme = protocol.spans
    if scheme is None:
        return []
    length = len(rated_text(item))
    places = [(TARGET, 0, 2), (TARGET, 1, length)]
    places += [(TARGET, length + n, length + n + 1) for n in range(len(scheme.tokens))]
    length = len(item.segment.source)
    places += [(SOURCE, 0, length), (SOURCE, 1, 3)] if SOURCE in scheme.sides else []
    categories = sorted(scheme.category_keys) or [""]
    return [
        Span(*place, rng.choice(scheme.severities).key, rng.choice(categories))
        for place in rng.sample(places, rng.randint(0, len(places)))
    ]


Mark = Callable[[Campaign, random.Random], None]


def judgments(campaign: Campaign) -> Any:
    """The judgments of a campaign."""
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by("pk")


def _excluded(campaign: Campaign, rng: random.Random) -> None:
    person = campaign.annotators.get(label="A1")
    person.excluded_at = BEGIN + timedelta(days=30)
    person.save()
    AuditEntry.objects.create(
        campaign=campaign, annotator=person, action="exclude", reason="Too fast,\nand random"
    )


def _simulated(campaign: Campaign, rng: random.Random) -> None:
    campaign.annotators.update(is_simulated=True)


def _flagged(campaign: Campaign, rng: random.Random) -> None:
    judgments(campaign).filter(pk=judgments(campaign)[2].pk).update(is_flagged=True)


def _commented(campaign: Campaign, rng: random.Random) -> None:
    for number, each in enumerate(judgments(campaign)):
        each.comment = COMMENTS[number % len(COMMENTS)]
        each.save()


def _revised(campaign: Campaign, rng: random.Random) -> None:
    """Every third answer has a later one, and every sixth the same a third time."""
    for number, old in enumerate(list(judgments(campaign))[::3]):
        judgments(campaign).filter(pk=old.pk).update(is_current=False)
        later = old.submitted_at + timedelta(days=1)
        add_judgment(
            old.assignment, rng, revision=2, is_current=number % 2 == 0,
            started_at=old.started_at, submitted_at=later,
        )  # fmt: skip
        if number % 2:
            again = judgments(campaign).last()
            spans = list(again.spans.all())
            again.pk, again.revision, again.is_current = None, 3, True
            again.submit_key = uuid.UUID(int=rng.getrandbits(128))
            again.submitted_at = later + timedelta(seconds=9)
            again.save()
            for span in spans:
                span.pk, span.judgment = None, again
                span.save()


def _clocked(campaign: Campaign, rng: random.Random) -> None:
    for number, each in enumerate(judgments(campaign)):
        each.visible_ms, each.active_ms = 2_000 + number, 1_000 + number
        each.paid_ms, each.sent_together = 3_000 + number, 1 + number % 3
        each.time_doubt = ("", "longer", "order")[number % 3]
        each.save()


def _untimed(campaign: Campaign, rng: random.Random) -> None:
    judgments(campaign).update(started_at=None, submitted_at=None)


def _noted(campaign: Campaign, rng: random.Random) -> None:
    campaign.items.filter(kind="target").update(note="Mind the\n“register” < &lt;")
    campaign.items.update(batch="batch 1")


def _drawn(campaign: Campaign, rng: random.Random) -> None:
    """Systems were drawn for each screen, and each annotator saw another order."""
    Campaign.objects.filter(pk=campaign.pk).update(assignment_mode=Campaign.Mode.DYNAMIC)
    for number, each in enumerate(Assignment.objects.filter(annotator__campaign=campaign)):
        each.column, each.inclusion = number % 2, 1 / (3 + number)
        each.save()


def _sampled(campaign: Campaign, rng: random.Random) -> None:
    """The judged segments are a sample; each was drawn with a probability of its own."""
    Campaign.objects.filter(pk=campaign.pk).update(sample={"size": "50%", "strata": "length"})
    judged = campaign.items.filter(kind=Item.Kind.TARGET).values_list("segment", flat=True)
    for number, pk in enumerate(sorted(set(judged))):
        campaign.sampled_segments.create(segment_id=pk, inclusion=1 / (3 + number))


def _opened(campaign: Campaign, rng: random.Random) -> None:
    for number, each in enumerate(Assignment.objects.filter(annotator__campaign=campaign)):
        for opening in range(number % 3):
            made = ContextOpening.objects.create(assignment=each)
            made.opened_at = BEGIN + timedelta(seconds=number + opening)
            made.save()


def _played(campaign: Campaign, rng: random.Random) -> None:
    for number, each in enumerate(judgments(campaign)[::2]):
        events = [[10, "play", 0.0], [900, "pause", 0.9], [950, "play", 0.9]][: number % 4]
        Playback.objects.create(judgment=each, events=events)


def _unrated(campaign: Campaign, rng: random.Random) -> None:
    """Nobody rated the last output."""
    target = campaign.items.filter(kind=Item.Kind.TARGET).last()
    judgments(campaign).filter(assignment__item=target).delete()
    Assignment.objects.filter(item=target).delete()


def _prefilled(campaign: Campaign, rng: random.Random) -> None:
    campaign.is_prefilled = True
    campaign.save()
    campaign.items.filter(kind="target").update(
        suggestions=as_stored([Span(TARGET, 0, 3, "minor")])
    )
    for number, each in enumerate(Assignment.objects.filter(annotator__campaign=campaign)):
        each.condition = ("blank", "prefilled")[number % 2]
        each.save()


def _suggested(campaign: Campaign, rng: random.Random) -> None:
    """After `conditions`: a planted error is among the suggestions, which met all fates."""
    severity = campaign.judging.spans.severities[0].key
    category = min(campaign.judging.spans.category_keys, default="")
    spans = [[TARGET, 0, 3, severity, category, ""], [TARGET, 4, 6, severity, category, "planted"]]
    stored = {"spans": spans, "known": [TARGET, 7, 9]}
    campaign.items.filter(kind="target").update(suggestions=stored)
    Assignment.objects.filter(annotator__campaign=campaign, condition="prefilled").update(
        condition="planted"
    )
    for number, each in enumerate(judgments(campaign).select_related("assignment__item")):
        shown = offered(each.assignment.item.suggestions, each.assignment.condition)
        left = [shown[0].span, None][: len(shown)] if number % 2 else [None, None][: len(shown)]
        kept = [(span, n) for n, span in enumerate(left) if span]
        for fate in fates(shown, [span for span, _ in kept], [n for _, n in kept]):
            fate.judgment = each
            fate.save()


MARKS: dict[str, Mark] = {
    "controls": lambda campaign, rng: None,
    "checks": lambda campaign, rng: None,
    "excluded": _excluded,
    "simulated": _simulated,
    "flagged": _flagged,
    "commented": _commented,
    "clocked": _clocked,
    "revised": _revised,
    "untimed": _untimed,
    "noted": _noted,
    "drawn": _drawn,
    "sampled": _sampled,
    "opened": _opened,
    "played": _played,
    "unrated": _unrated,
    "conditions": _prefilled,
    "suggested": _suggested,
}
EVERY_MARK = tuple(
    mark for mark in MARKS if mark not in ("untimed", "drawn", "suggested", "unrated")
)
