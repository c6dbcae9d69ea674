"""A small rated campaign for the pages that rest on judgments and scores."""

import random
from collections.abc import Iterator

import pytest

from annotation.demo.load import simulate_campaign
from annotation.models import Campaign, Output, System, TestSet
from annotation.models.corpus import content_key
from metrics.runs import scoring, starting
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_test_set

# How many words of the reference a system may lose.
DROPPED = {"strong": (0, 3), "middling": (1, 5), "weak": (2, 6)}
DOCUMENTS = ("clinic", "market", "harbour", "library", "bakery", "typhoon")


def make_rated(slug: str = "rated", segments: int = 18, **fields: object) -> Campaign:
    """Three simulated annotators, three systems, segments of six documents, chrF and BLEU."""
    test_set = make_test_set(f"{slug}-set", segments=segments, systems=())
    for name, dropped in DROPPED.items():
        add_outputs(test_set, name, dropped)
    for segment in test_set.segments.all():
        segment.document = DOCUMENTS[segment.position % len(DOCUMENTS)]
        segment.save(update_fields=["document"])
    campaign = make_campaign(test_set, slug, **{"traps_per_annotator": 6} | fields)
    rate(campaign)
    for run in starting.start(test_set=test_set, metrics=["chrf", "bleu"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    return campaign


def add_outputs(test_set: TestSet, name: str, dropped: tuple[int, int]) -> None:
    """Store a system whose outputs are the references without some of their words."""
    rng = random.Random(name)
    system = System.objects.create(test_set=test_set, name=name, length_ratio="0.80")
    for segment in test_set.segments.all():
        reference = segment.references.get().text
        words = reference.split()
        for _ in range(rng.randint(*dropped)):
            words.pop(rng.randrange(len(words)))
        text = " ".join(words)
        key = content_key(segment.source, [reference], text)
        Output.objects.create(system=system, segment=segment, text=text, content_key=key)


def rate(campaign: Campaign) -> None:
    """Fill a draft with simulated judgments: strong outputs are better than weak ones."""
    rng = random.Random(4)
    level = {"strong": 75, "middling": 60, "weak": 40, "Human-B": 90}
    outputs = Output.objects.filter(system__campaigns=campaign).order_by("pk")
    truth = {
        pk: level[name] + rng.gauss(0, 12) for pk, name in outputs.values_list("pk", "system__name")
    }
    simulate_campaign(campaign=campaign, adequacy=truth)


@pytest.fixture(scope="module")
def rated_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    """The key of a campaign that the tests of a module share."""
    with shared_rows(make_rated) as made:
        yield made.pk


@pytest.fixture
def rated(rated_rows: int, world: World) -> Campaign:
    """A closed campaign with everything that pages show."""
    return Campaign.objects.get(pk=rated_rows)
