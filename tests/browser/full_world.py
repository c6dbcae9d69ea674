"""Everything that pages can show, at once: for tests that visit them all."""

from decimal import Decimal

from django.test import Client
from django.utils import timezone

from annotation import projects
from annotation.campaigns import add_annotators, open_campaign
from annotation.models import (
    AccessLink,
    Annotator,
    Assignment,
    Campaign,
    Instructions,
    Item,
    Project,
    Reference,
    TestSet,
)
from annotation.models.people import hash_token
from annotation.protocols import PROTOCOLS
from metrics import imported
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests.metrics.fleet import found, make_worker
from tests.training.doing import run_job
from tests.world import World, make_campaign, make_demo, make_world
from training.models import PreferenceResult, TrainingJob, TranslatedText, Translation
from training.parallel import corpora
from training.parallel.reading import Row
from training.preferences import starting
from training.translation.requests import Request

DEMO, TEST_SET = "demo-en-zh-80", "demo-en-zh"
INSTRUCTIONS = "# Read\n\n- [guide](https://example.org/)\n\n| 0 | 100 |\n|---|---|\n| bad | good |"
TOKEN = "a-link-for-everybody"


def screens_of(world: World, protocol: str, slug: str = "") -> Campaign:
    """A campaign of the protocol with one screen for the first annotator."""
    campaign = make_campaign(
        world.test_set,
        slug or f"{protocol}-task",
        protocol=protocol,
        question="How well does the translation say what the source says?",
        instructions=INSTRUCTIONS,
        shown_text=Campaign.ShownText.SOURCE,
        status=Campaign.Status.OPEN,
    )
    annotator = Annotator.objects.create(campaign=campaign, user=world.annotators[0], label="A1")
    first = world.test_set.segments.order_by("position")[0]
    system = campaign.systems.earliest("name")
    outputs = list(system.outputs.order_by("segment__position")[:3])
    if protocol in ("side-by-side", "contrastive-esa"):
        outputs = list(first.outputs.order_by("system__name")[:2])
    screen = 1 if protocol in ("document-da", "side-by-side", "contrastive-esa") else None
    items = [
        Item(campaign=campaign, segment=each.segment, output=each, system=each.system,
             screen=screen, place=place)
        for place, each in enumerate(outputs)
    ]  # fmt: skip
    if protocol == "document-da":
        items.append(
            Item(campaign=campaign, segment=first, system=system, screen=screen,
                 place=len(items), kind=Item.Kind.DOCUMENT)
        )  # fmt: skip
    for position, item in enumerate(items):
        item.save()
        Assignment.objects.create(annotator=annotator, item=item, position=position)
    return campaign


def finish(world: World, slug: str, status: str) -> None:
    campaign = make_campaign(world.test_set, slug)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    Assignment.objects.filter(annotator__campaign=campaign).update(completed_at=timezone.now())
    Campaign.objects.filter(pk=campaign.pk).update(status=status)


def answer(world: World, slug: str, score: str) -> None:
    """Rate the first open item of a campaign, as a browser without scripts would."""
    client = Client()
    client.force_login(world.annotators[0])
    address = client.get(f"/annotate/{slug}/").headers["Location"]
    html = client.get(address).text
    fields = {}
    for name in ("submit_key", "revision", "started"):
        fields[name] = html.split(f'name="{name}" value="')[1].split('"')[0]
    assert client.post(address, fields | {"score": score}).status_code == 302


def make_full() -> World:
    """The cast, the demo with one metric run, and a screen of every protocol."""
    make_demo()
    world = make_world()
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    for language in ("ar", "zh-hans"):
        Instructions.objects.create(
            campaign=world.campaign, language=language, instructions=INSTRUCTIONS
        )
    for protocol in PROTOCOLS:
        screens_of(world, protocol)
    world.test_set.segments.update(document="news")
    Campaign.objects.filter(slug="esa-task").update(shows_context=True)
    finish(world, "finished", Campaign.Status.OPEN)
    for slug in ("asked", "told"):
        asking = screens_of(world, "segment-da", slug)
        Campaign.objects.filter(pk=asking.pk).update(
            consent="# Yes\n\nI agree.", asks_background=True
        )
    Annotator.objects.filter(campaign__slug="told").update(consented_at=timezone.now())
    AccessLink.objects.create(campaign=asking, token_hash=hash_token(TOKEN))
    finish(world, "closed", Campaign.Status.CLOSED)
    make_campaign(world.test_set, "draft")
    project = projects.create(name="Port", actor=world.admin)
    Project.objects.filter(pk=project.pk).update(slug="port")
    make_campaign(world.test_set, "of-project", project=project, status="closed")
    answer(world, "harbour-80", "0")
    test_set = Campaign.objects.get(slug=DEMO).test_set
    for run in runs.start(test_set=test_set, metrics=["chrf"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    system = test_set.systems.earliest("pk")
    imported.store(test_set, "COMET", {}, {f"{system.name}@{system.length_ratio.normalize()}": 0.5})
    make_worker(checkpoints={"roberta-large-mnli": found(problems=["config.json is missing."])})
    make_worker("gpu0@two", silent=60)
    make_sweep()
    make_preferences(world)
    return world


def make_preferences(world: World) -> None:
    """An analysis that has ended, and one that waits."""
    wanted = {"test_set": world.test_set, "metrics": ["yisi-0"], "files": {}, "enqueue": False}
    Reference.objects.create(segment=world.test_set.segments.first(), name="B", text="A quiet one.")
    job, _ = starting.start(**wanted, conditions=["reorder", "clauses"])
    run_job(job)
    assert PreferenceResult.objects.count() == 2
    starting.start(**wanted, conditions=["repeat"])


def make_sweep() -> None:
    """Parallel text and two jobs: one waits, one is done and has a curve."""
    pairs = [Row("a.tsv:1", "港口", "the harbour"), Row("a.tsv:2", "", "nothing")]
    corpus = corpora.add(name="harbour", source_language="zh", target_language="en", rows=pairs)
    for layer, curve in ((1, []), (2, [{"pairs": 1, "found": 0.5}, {"pairs": 2, "found": 0.7}])):
        TrainingJob.objects.create(
            kind="remap",
            name="fit",
            sweep="layers",
            options={"layer": layer},
            status="done" if curve else "queued",
            result={"curve": curve, "held out": {"found": 0.7}} if curve else {},
        ).corpora.add(corpus)
    test_set = TestSet.objects.get(slug=TEST_SET)
    translation = Translation.objects.create(
        test_set=test_set, name="fit", model="fit", status="failed", message="It stopped.",
        request=Request("exact", Decimal("0.8")).as_json(), result={"lengths": {"bias": 0.1}},
    )  # fmt: skip
    TranslatedText.objects.create(
        translation=translation, segment=test_set.segments.earliest("position"), text="x",
        wanted=2, length=1, pieces=1,
    )  # fmt: skip
