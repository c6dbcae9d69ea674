"""Store the demo: two test sets, four simulated campaigns, one to try per protocol, logins."""

import random
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from annotation import protocols, uploads
from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.imports.tables import read_table
from annotation.judging.timing import paid_milliseconds
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, Output, TestSet
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

# Simulate annotators for the demo: known adequacy with bias and noise. Campaigns that are
# filled this way have the origin `simulated`; their annotators are marked, and every page that
# shows them says so.

FIRST_DAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
BATCH = 2_000


@dataclass(frozen=True)
class Rater:
    """score = bias + slope × adequacy + normal noise; times are log-normal, in seconds."""

    label: str
    bias: float
    slope: float
    noise: float
    attention: float
    seconds: float


RATERS = (
    Rater("S1", bias=6, slope=0.95, noise=9, attention=0.97, seconds=24),
    Rater("S2", bias=-8, slope=1.05, noise=11, attention=0.92, seconds=33),
    Rater("S3", bias=22, slope=0.70, noise=14, attention=0.80, seconds=17),
)


@transaction.atomic
def simulate_campaign(
    *, campaign: Campaign, adequacy: Mapping[int, float], raters: Sequence[Rater] = RATERS
) -> Campaign:
    """Open a draft, rate all of it and close it.

    `adequacy` gives every judged output (by primary key) its true quality, 0–100. The same seed
    and secret give the same ratings.
    """
    for rater in raters:
        Annotator.objects.create(campaign=campaign, label=rater.label, is_simulated=True)
    campaign = open_campaign(campaign=campaign)
    for rater in raters:
        _rate(campaign, rater, adequacy)
    return close_campaign(campaign=campaign)


def _rate(campaign: Campaign, rater: Rater, adequacy: Mapping[int, float]) -> None:
    rng = random.Random(f"{campaign.seed}:{campaign.slug}:{rater.label}")
    clock = FIRST_DAY + timedelta(hours=rng.randrange(6))
    judgments = []
    assignments = list(
        Assignment.objects.filter(annotator__campaign=campaign, annotator__label=rater.label)
        .select_related("item")
        .order_by("position")
    )
    for assignment in assignments:
        started, clock = clock, clock + timedelta(seconds=_seconds(rater, rng))
        assignment.completed_at = clock
        judgments.append(
            Judgment(
                assignment=assignment,
                score=_score(rater, assignment.item, adequacy, rng),
                submit_key=uuid.UUID(int=rng.getrandbits(128), version=4),
                started_at=started,
                submitted_at=clock,
                paid_ms=paid_milliseconds(clock - started, cap=campaign.time_cap_seconds),
            )
        )
    Judgment.objects.bulk_create(judgments, batch_size=BATCH)
    Assignment.objects.bulk_update(assignments, ["completed_at"], batch_size=500)


def _seconds(rater: Rater, rng: random.Random) -> float:
    """Return a reading time, in 1% of cases with a long pause."""
    pause = rng.uniform(700, 2_400) if rng.random() < 0.01 else 0
    return max(2.0, rng.lognormvariate(0, 0.45) * rater.seconds) + pause


def _score(rater: Rater, item: Item, adequacy: Mapping[int, float], rng: random.Random) -> int:
    if item.kind == Item.Kind.TRAP:
        return _trap_score(rater, rng)
    quality = adequacy[item.output_id]  # type: ignore[index]
    score = rater.bias + rater.slope * quality + rng.gauss(0, rater.noise)
    return round(min(100, max(0, score)))


def _trap_score(rater: Rater, rng: random.Random) -> int:
    """Return a low score if the annotator is attentive, otherwise a normal one."""
    if rng.random() < rater.attention:
        return 0 if rng.random() < 0.7 else rng.randint(1, 20)
    return rng.randint(21, 85)


FOLDER = Path(__file__).parent
STUDY = "demo"
TO_TRY = "try-it"
DEMO_PASSWORD = "touchstone-demo"  # noqa: S105 - printed at start, for a local demo only
NAMES = {"en-zh": "Demo English–Chinese", "zh-en": "Demo Chinese–English"}
RATIOS = (Decimal("0.80"), Decimal("0.50"))
TRAPS = 20
# A campaign of each protocol to try: the annotators' logins rate in it.
TRY_IT: dict[str, dict[str, Any]] = {
    "try-it": {"name": "Try it: rate translations", "traps_per_annotator": TRAPS},
    "try-documents": {
        "name": "Try it: whole documents",
        "protocol": "document-da",
        "bad_references_per_annotator": 1,
    },
    "try-side-by-side": {
        "name": "Try it: systems side by side",
        "protocol": "side-by-side",
        "systems_per_screen": 3,
        "bad_references_per_annotator": 4,
    },
    "try-contrastive-esa": {
        "name": "Try it: error spans, systems side by side (cESA)",
        "protocol": "contrastive-esa",
        "systems_per_screen": 3,
    },
    "try-esa": {
        "name": "Try it: error spans (ESA)",
        "protocol": "esa",
        "bad_references_per_annotator": 4,
        "repeats_per_annotator": 2,
    },
    "try-mqm": {"name": "Try it: error categories (MQM)", "protocol": "mqm"},
    "try-side-by-side-mqm": {
        "name": "Try it: error categories, systems side by side",
        "protocol": "side-by-side-mqm",
    },
    "try-adequacy-fluency": {
        "name": "Try it: adequacy and fluency",
        "protocol": "adequacy-fluency",
    },
    "try-post-editing": {"name": "Try it: post-editing", "protocol": "post-editing"},
}
LOGINS = {
    "admin": ADMIN,
    "researcher": RESEARCHER,
    "annotator1": ANNOTATOR,
    "annotator2": ANNOTATOR,
    "annotator3": ANNOTATOR,
}
Adequacy = dict[tuple[str, Decimal, str], float]


@transaction.atomic
def load_demo() -> list[TestSet]:
    """Store the missing parts of the demo, and return its test sets.

    Loading again changes nothing: judgments made in the demo stay.
    """
    users = [_login(name, role) for name, role in LOGINS.items()]
    test_sets = []
    for direction in NAMES:
        test_set, adequacy = _test_set(direction)
        test_sets.append(test_set)
        for ratio in RATIOS:
            _simulated_campaign(test_set, ratio, adequacy)
    annotators = [user for user in users if user.username[:-1] == ANNOTATOR]
    for slug, settings in TRY_IT.items():
        _open_campaign(slug, settings, test_sets[-1], annotators)
    return test_sets


def _login(name: str, role: str) -> User:
    user, is_new = User.objects.get_or_create(username=name)
    if is_new:
        user.set_password(DEMO_PASSWORD)
        user.save(update_fields=["password"])
    user.groups.add(Group.objects.get(name=role))
    return user


def _test_set(direction: str) -> tuple[TestSet, Adequacy]:
    columns = ("segment", "document", "source", "reference")
    segments = [
        SegmentDraft(
            key=row["segment"],
            document=row["document"],
            source=row["source"],
            references={"A": row["reference"]},
        )
        for row in read_table(FOLDER / f"{direction}.segments.tsv", *columns)
    ]
    outputs: dict[tuple[str, Decimal], dict[str, str]] = defaultdict(dict)
    adequacy: Adequacy = {}
    columns = ("segment", "system", "length_ratio", "output")
    for row in read_table(FOLDER / f"{direction}.outputs.tsv", *columns, "adequacy"):
        system, ratio = row["system"], Decimal(row["length_ratio"])
        outputs[system, ratio][row["segment"]] = row["output"]
        adequacy[system, ratio, row["segment"]] = float(row["adequacy"])
    draft = TestSetDraft(
        slug=f"demo-{direction}",
        name=NAMES[direction],
        source_language=direction[:2],
        target_language=direction[3:],
        description="Text written for Touchstone's demo.",
        segments=segments,
        systems=[SystemDraft(name=n, ratio=r, outputs=texts) for (n, r), texts in outputs.items()],
    )
    return uploads.store(draft).test_set, adequacy


def _simulated_campaign(test_set: TestSet, ratio: Decimal, adequacy: Adequacy) -> None:
    percent = f"{ratio * 100:.0f}"
    slug = f"{test_set.slug}-{percent}"
    if Campaign.objects.filter(slug=slug).exists():
        return
    campaign = _draft(
        slug,
        test_set=test_set,
        ratio=ratio,
        name=f"{test_set.name}, {percent}%",
        study=STUDY,
        origin=Campaign.Origin.SIMULATED,
        traps_per_annotator=TRAPS,
        # Nobody rates in it, so the secret need not be secret, and every demo is identical.
        secret=STUDY,
    )
    outputs = Output.objects.filter(system__in=campaign.systems.all())
    columns = ("pk", "system__name", "system__length_ratio", "segment__key")
    truth = {pk: adequacy[name, r, key] for pk, name, r, key in outputs.values_list(*columns)}
    simulate_campaign(campaign=campaign, adequacy=truth)


def _open_campaign(
    slug: str, settings: dict[str, Any], test_set: TestSet, annotators: list[User]
) -> None:
    if Campaign.objects.filter(slug=slug).exists():
        return
    protocol = protocols.get(settings.get("protocol", protocols.DEFAULT))
    shown = "source" if protocol.spans else "reference"
    defaults: dict[str, Any] = {"traps_per_annotator": 0, "shown_text": shown, "study": TO_TRY}
    defaults["question"] = protocol.ask(RATIOS[0])
    campaign = _draft(slug, test_set=test_set, ratio=RATIOS[0], **(defaults | settings))
    add_annotators(campaign=campaign, users=annotators)
    open_campaign(campaign=campaign)


def _draft(slug: str, *, test_set: TestSet, ratio: Decimal, **settings: Any) -> Campaign:
    campaign = Campaign.objects.create(
        slug=slug, test_set=test_set, length_ratio=ratio, trap_ratio=ratio, seed=2026, **settings
    )
    campaign.systems.set(test_set.systems.filter(length_ratio=ratio))
    return campaign
