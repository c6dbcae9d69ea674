"""A campaign in which everything that annotators must not learn can be found by its spelling.

Row ids are nine digits that begin with 91357, system names, labels, user names, comments and
feedback are words that occur nowhere else, and the scores of others are 87.
"""

import uuid
from dataclasses import dataclass, field
from decimal import Decimal

from django.contrib.auth.models import Group, User
from django.utils import timezone

from annotation.models import (
    AccessLink,
    Annotator,
    Assignment,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    Output,
    Reference,
    Segment,
    System,
    TestSet,
)
from annotation.models.corpus import content_key
from annotation.protocols import Layout

CAMPAIGN = "sea-80"
FIRST_ID = 913_570_001
SYSTEMS = ("zebraSYSTEMone", "quaggaSYSTEMtwo")
OTHERS_LABEL, OTHERS_NAME, OTHERS_COMMENT = "okapiLABEL", "tapirNAME", "gnuCOMMENT"
FEEDBACK, GOLD_FEEDBACK, CODE = "lynxFEEDBACK", "ibexFEEDBACK", "yakCODE"
PERSON, BATCH = "moosePERSON", "bisonBATCH"
OTHERS_SCORE = 87
NEVER = (
    *SYSTEMS, OTHERS_LABEL, OTHERS_NAME, OTHERS_COMMENT, GOLD_FEEDBACK, CODE, PERSON, BATCH,
)  # fmt: skip
Kind = Item.Kind


@dataclass
class SecretWorld:
    """`me` looks; `other` has rated everything. `items` are in the order of their screens."""

    campaign: Campaign
    me: Annotator
    other: Annotator
    items: list[Item] = field(default_factory=list)


class _Ids:
    def __init__(self) -> None:
        self.last = FIRST_ID

    def __call__(self) -> int:
        self.last += 1
        return self.last


def make_secret_world(protocol: str, **fields: object) -> SecretWorld:
    """An open campaign with every kind of item, and somebody else's answers to all of them."""
    new = _Ids()
    test_set = TestSet.objects.create(
        pk=new(), slug="sea", name="Sea", source_language="zh", target_language="en"
    )
    segments = [_segment(new, test_set, position) for position in range(12)]
    systems = [_system(new, test_set, name, segments) for name in SYSTEMS]
    campaign = Campaign.objects.create(
        pk=new(), slug=CAMPAIGN, name="Sea 80", test_set=test_set, protocol=protocol,
        length_ratio=Decimal("0.80"), status="open", opened_at=timezone.now(), **fields,
    )  # fmt: skip
    campaign.systems.set(systems)
    link = AccessLink.objects.create(
        pk=new(), campaign=campaign, token_hash="0" * 64, completion_code=CODE
    )
    world = SecretWorld(
        campaign,
        _annotator(new, campaign, "me", "looker", access_link=link),
        _annotator(new, campaign, OTHERS_LABEL, OTHERS_NAME, external_id=f"prolific:{PERSON}"),
    )
    world.items = _items(new, campaign, segments, systems)
    _assign(new, world)
    return world


def _segment(new: _Ids, test_set: TestSet, position: int) -> Segment:
    segment = Segment.objects.create(
        pk=new(), test_set=test_set, position=position, key=f"k{position}", document="port",
        source=f"港口第{position}句。",
    )  # fmt: skip
    Reference.objects.create(pk=new(), segment=segment, text=f"The harbour was calm, {position}.")
    return segment


def _system(new: _Ids, test_set: TestSet, name: str, segments: list[Segment]) -> System:
    system = System.objects.create(
        pk=new(), test_set=test_set, name=name, length_ratio=Decimal("0.80")
    )
    for segment in segments:
        text = f"A quiet harbour number {segment.position} {len(name)}."
        key = content_key(segment.source, [], text)
        Output.objects.create(pk=new(), system=system, segment=segment, text=text, content_key=key)
    return system


def _annotator(new: _Ids, campaign: Campaign, label: str, name: str, **fields: object) -> Annotator:
    user = User.objects.create(pk=new(), username=name, password="!")
    user.groups.add(Group.objects.get_or_create(name="annotator")[0])
    return Annotator.objects.create(pk=new(), campaign=campaign, user=user, label=label, **fields)


def _items(
    new: _Ids, campaign: Campaign, segments: list[Segment], systems: list[System]
) -> list[Item]:
    """Practice first; then a control item of every kind beside a target, by two on a screen
    where the protocol shows several, and the document as a whole last."""
    controls = (Kind.TRAP, Kind.BAD_REF, Kind.REPEAT, Kind.REF, Kind.GOLD)
    kinds = [
        Kind.TUTORIAL,
        Kind.TARGET,
        *(kind for each in controls for kind in (each, Kind.TARGET)),
    ]
    items = []
    for number, kind in enumerate(kinds):
        segment, system = segments[number], systems[number % 2]
        output = system.outputs.get(segment=segment)
        item = Item(
            pk=new(), campaign=campaign, kind=kind, segment=segment, batch=BATCH, shuffle=new(),
            output=output if kind in (Kind.TARGET, Kind.REPEAT) else None,
            text="" if kind in (Kind.TARGET, Kind.REPEAT) else f"A shorter harbour {number}.",
        )  # fmt: skip
        if kind in (Kind.GOLD, Kind.TUTORIAL):
            item.low, item.high = 31, 32
            item.feedback = FEEDBACK if kind == Kind.TUTORIAL else GOLD_FEEDBACK
        if kind not in (Kind.TARGET, Kind.TUTORIAL):
            item.partner = items[-1]
        items.append(item)
        item.save()
    _place(new, campaign, items, segments[0], systems[0])
    return items


def _place(
    new: _Ids, campaign: Campaign, items: list[Item], segment: Segment, system: System
) -> None:
    """Put the items on screens as the protocol's layout has them."""
    layout = campaign.judging.layout
    if layout == Layout.SINGLE:
        return
    size = 2 if layout.has_systems else 6
    if layout == Layout.DOCUMENT:
        whole = Item(
            pk=new(), campaign=campaign, kind=Kind.DOCUMENT, segment=segment, system=system
        )
        whole.save()
        items.append(whole)
    for number, item in enumerate(items):
        item.screen, item.place = number // size + 1, number % size
        item.save()


def _assign(new: _Ids, world: SecretWorld) -> None:
    for annotator in (world.me, world.other):
        for position, item in enumerate(world.items):
            Assignment.objects.create(pk=new(), annotator=annotator, item=item, position=position)
    has_score = world.campaign.judging.has_score
    for assignment in world.other.assignments.all():
        judgment = Judgment.objects.create(
            pk=new(),
            assignment=assignment,
            score=OTHERS_SCORE if has_score else None,
            penalty=None if has_score else OTHERS_SCORE,
            comment=OTHERS_COMMENT,
            submit_key=uuid.uuid4(),
        )
        ErrorSpan.objects.create(
            pk=new(), judgment=judgment, side="target", start=0, end=3, severity="minor"
        )
