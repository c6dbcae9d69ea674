"""A whole campaign rated by three people at once, and all that their browsers received."""

import os
import random
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import mail
from django.test import Client
from django.urls import reverse

from annotation.access import ANNOTATOR
from annotation.campaigns import add_annotators, open_campaign
from annotation.judging.answers import Answer
from annotation.judging.assignments import first_open
from annotation.judging.judgments import issue_start, submit
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output
from annotation.models.campaign import new_secret
from annotation.protocols import PROTOCOLS, Layout
from tests.annotation.blindness.reading import Received, Seen, bits, phases, tokens_in_order
from tests.world import make_campaign, make_test_set, make_user

JSON = {"accept": "application/json"}
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SYSTEMS = ("strong", "weak")
N_ANNOTATORS = 3
PER_ITEM = 3
# Segments, segments a document, and controls of each kind that one person is to get.
SIZES = {
    "segment-da": (12, 1, 2), "esa": (10, 1, 2), "mqm": (10, 1, 2), "document-da": (14, 2, 2),
    "side-by-side": (18, 1, 3), "contrastive-esa": (36, 2, 3), "side-by-side-mqm": (18, 1, 3),
    "adequacy-fluency": (10, 1, 2), "post-editing": (10, 1, 2),
}  # fmt: skip
WORDS = ("harbour", "quiet", "boats", "left", "early", "morning", "wind", "north", "sea", "stone")
HISTORY_LINE = '<li class="card">'
Mode = Campaign.Mode
DA = "segment-da"
# Every protocol with one mode, and a share for everybody, which pages then name. All pairs with
# BLIND_WORLDS=all.
WORLDS = [(Mode.POOL, DA, 40), (Mode.POOL, "document-da", 0), (Mode.POOL, "contrastive-esa", 0)]
WORLDS += [(Mode.STATIC, "side-by-side", 0), (Mode.ACTIVE, "esa", 0), (Mode.STATIC, "mqm", 0)]
WORLDS += [(Mode.DYNAMIC, "side-by-side", 0)]
if os.environ.get("BLIND_WORLDS") == "all":
    pairs = [
        (mode, protocol, 0)
        for mode in Mode.values
        for protocol in SIZES
        if mode != Mode.DYNAMIC or PROTOCOLS[protocol].layout.has_systems
    ]
    WORLDS += [pair for pair in pairs if pair not in WORLDS]


@dataclass
class Clock:
    """Time that passes by the answers alone."""

    now: datetime = START

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass
class Shown:
    """A screen that somebody got: its kind and system, and how many others had rated it."""

    head: Item
    position: int
    is_control: bool
    n_others: int
    first_system: int | None
    seen: Seen = field(default_factory=Seen)
    tokens: set[str] = field(default_factory=set)


def make_blind_campaign(protocol: str, mode: str, *, limit: int = 0) -> Campaign:
    """An open campaign with controls of every kind that its layout and protocol know."""
    rng = random.Random(f"{protocol}:{mode}")
    layout = Campaign(protocol=protocol).judging.layout
    n_segments, per_document, n_controls = SIZES[protocol]
    systems = (*SYSTEMS, "third") if mode == Campaign.Mode.DYNAMIC else SYSTEMS
    test_set = make_test_set("blind", segments=n_segments, systems=systems)
    _write(test_set.pk, per_document, rng)
    controls = {
        "control_spacing": 1 if mode == Campaign.Mode.STATIC else 0,
        "traps_per_annotator": n_controls if layout == Layout.SINGLE else 0,
        "bad_references_per_annotator": n_controls,
        "repeats_per_annotator": n_controls,
        "references_per_annotator": n_controls,
    }
    if mode == Campaign.Mode.DYNAMIC:
        checks = {"rotated_checks": 3 * n_controls, "check_percent": 30}
        controls = {"traps_per_annotator": 0, "cold_start": 2, **checks}
    campaign = make_campaign(
        test_set, "blind", protocol=protocol, assignment_mode=mode, shown_text="source",
        annotators_per_item=PER_ITEM, items_per_annotator=limit, edit_minutes=None,
        secret=new_secret(), **controls,
    )  # fmt: skip
    users = [make_user(f"blind-{number}", ANNOTATOR) for number in range(N_ANNOTATORS)]
    add_annotators(campaign=campaign, users=users)
    if layout == Layout.SINGLE and campaign.judging.has_score:
        _add_gold(campaign)
    return open_campaign(campaign=campaign)


def _write(test_set: int, per_document: int, rng: random.Random) -> None:
    """Texts of any length that has nothing to do with the system."""
    for output in Output.objects.filter(system__test_set=test_set).order_by("pk"):
        output.text = " ".join(rng.choices(WORDS, k=rng.randint(5, 14)))
        output.save(update_fields=["text"])
        segment = output.segment
        segment.document = f"document {segment.position // per_document}"
        segment.save(update_fields=["document"])


def _add_gold(campaign: Campaign) -> None:
    segment = campaign.test_set.segments.first()
    for kind, n in ((Item.Kind.TUTORIAL, 2), (Item.Kind.GOLD, 4)):
        for number in range(n):
            Item.objects.create(
                campaign=campaign, kind=kind, segment=segment, text=f"{WORDS[number]} is bread",
                low=30, high=60, feedback="Look at the verb.",
            )  # fmt: skip


class Answering:
    """One annotator whose answers are stored without a page; `shown` are the screens in order."""

    def __init__(self, annotator: Annotator, clock: Clock) -> None:
        self.annotator, self.clock = annotator, clock
        self.rng = random.Random(f"person:{annotator.label}")
        self.shown: list[Shown] = []
        self.at: list[Assignment] = []
        first_open(annotator)
        self._arrive()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left for them."""
        return not self.at

    def _arrive(self) -> None:
        self.at = self._open()
        if self.at:
            self.shown.append(self._describe())

    def _open(self) -> list[Assignment]:
        """What is to be answered now: the rest of the screen."""
        rows = self.annotator.assignments.select_related("item__output").order_by("position")
        rows = rows.filter(completed_at=None, released_at=None)
        first = rows.first()
        if first is None or first.item.screen is None:
            return [first] if first else []
        return list(rows.filter(item__screen=first.item.screen))

    def _describe(self) -> Shown:
        items = [row.item for row in self.at]
        kinds = {item.kind for item in items} - {Item.Kind.TARGET, Item.Kind.DOCUMENT}
        others = Judgment.objects.filter(assignment__item=items[0])
        output = items[0].output
        return Shown(
            head=items[0],
            position=self.at[0].position,
            is_control=bool(kinds) or any(item.partner_id for item in items),
            n_others=others.exclude(assignment__annotator=self.annotator).count(),
            first_system=output.system_id if output else None,
        )

    def rate(self) -> None:
        """Answer the screen."""
        self._store(self.at)
        first_open(self.annotator)
        self._arrive()

    def _store(self, rows: list[Assignment]) -> None:
        answers = self._answers(rows)
        self.clock.now += timedelta(seconds=self.rng.randint(2, 60))
        submit(user=self.annotator.user, answers=answers)

    def _answers(self, rows: list[Assignment]) -> list[Answer]:
        return [
            Answer(
                public_id=row.public_id,
                submit_key=uuid.uuid4(),
                started_at=self.clock.now,
                seen=0,
                **self._given(),
            )
            for row in rows
        ]

    def _given(self) -> dict[str, Any]:
        """Any score on every scale, or any words."""
        asked = self.annotator.campaign.judging
        values = [self.rng.randint(scale.low, scale.high) for scale in asked.scales]
        names = [scale.key for scale in asked.scales]
        words = " ".join(self.rng.choices(WORDS, k=9))
        return {
            "score": values[0] if values else None,
            "ratings": dict(zip(names, values, strict=True)) if any(names) else {},
            "post_edit": words if asked.text else None,
        }


class Person(Answering):
    """One annotator at a browser."""

    def __init__(self, annotator: Annotator, clock: Clock, *, is_thorough: bool) -> None:
        self.is_thorough = is_thorough
        self.slug = annotator.campaign.slug
        self.client = Client()
        self.client.force_login(annotator.user)
        super().__init__(annotator, clock)

    def _ask(self, what: str, address: str, **sent: object) -> Received:
        method = self.client.post if sent.get("data") else self.client.get
        response = method(address, **sent)
        return Received(
            what, response.status_code, dict(response.headers), list(response.cookies),
            response.text,
        )  # fmt: skip

    def _arrive(self, reply: Received | None = None) -> None:
        """See the next screen: in the reply to the last answer, or else as a page."""
        came = [reply] if reply else []
        turn = len(self.shown) % 3
        if self.is_thorough and turn == 0:
            came.append(self._ask("way", reverse("annotate", args=[self.slug])))
        if self.is_thorough and turn == 1:
            came.append(self._ask("home", reverse("home")))
        self.at = self._open()
        if not self.at:
            return
        if reply is None:
            came.append(self._ask("page", reverse("item", args=[self.at[0].public_id])))
        self.shown.append(self._describe())
        for each in came:
            self.shown[-1].seen.read(each)

    def rate(self) -> None:
        """Answer the screen.

        Half of the screens by a script, which is replied to; the others as it is stored anyway,
        before the page is loaded anew.
        """
        together = self.annotator.campaign.judging.layout.has_several
        is_scripted = self.rng.random() < 0.5
        if self.is_thorough and len(self.shown) % 3 == 2:
            self.shown[-1].seen.read(self._send(self.at, together, score="", what="refused"))
        self.clock.now += timedelta(seconds=self.rng.randint(5, 40))
        reply = None
        if is_scripted:
            reply = self._send(self.at, together)
            assert reply.status == 200, reply.body
        else:
            self._store(self.at)
            first_open(self.annotator)
        self._arrive(reply)

    def _send(
        self, rows: list[Assignment], together: bool, what: str = "reply", **changed: str
    ) -> Received:
        address = reverse("item", args=[rows[0].public_id])
        data = {}
        for number, answer in enumerate(self._answers(rows)):
            fields = {
                "score": "" if answer.score is None else str(answer.score),
                "s1-score": str([*answer.ratings.values(), "", ""][1]),
                "text": answer.post_edit or "",
                "spans": "[]",
                "submit_key": str(answer.submit_key),
                "revision": "0",
                "started": issue_start(user_id=self.annotator.user_id, public_id=answer.public_id),
            }
            for name, value in (fields | changed).items():
                data[f"{number}-{name}" if together else name] = value
        self.clock.now += timedelta(seconds=self.rng.randint(2, 60))
        return self._ask(what, address, data=data, headers=JSON)

    def look_back(self) -> None:
        """Read the history: a line belongs to the screen of its item."""
        address = reverse("annotate-history", args=[self.slug])
        by_place = {shown.position: shown for shown in self.shown}
        place = len(Assignment.objects.filter(annotator=self.annotator))
        for page in range(1, 1 + -(-place // 100)):
            body = self._ask("history", f"{address}?page={page}").body
            for line in body.split(HISTORY_LINE)[1:]:
                place -= 1
                if place in by_place:
                    line = line.partition("</li>")[0]
                    by_place[place].seen.read(Received("line", 200, {}, [], line))


def rate_everything(campaign: Campaign, clock: Clock, *, is_thorough: bool) -> list[Shown]:
    """Let three people rate in turns that a seed draws; return what everybody was shown."""
    people = [
        Person(annotator, clock, is_thorough=is_thorough)
        for annotator in campaign.annotators.select_related("user", "campaign").order_by("pk")
    ]
    rng = random.Random("turns")
    while at_work := [person for person in people if not person.is_done]:
        rng.choice(at_work).rate()
    for person in people:
        person.look_back()
        _read(person)
    assert mail.outbox == []
    return [shown for person in people for shown in person.shown]


def _read(person: Person) -> None:
    rows = person.annotator.assignments.values_list("position", "public_id")
    ids = dict(rows)
    for shown, tokens in zip(
        person.shown, tokens_in_order([shown.seen for shown in person.shown]), strict=True
    ):
        shown.tokens = {*tokens, *phases(shown.position), *bits(ids[shown.position])}
