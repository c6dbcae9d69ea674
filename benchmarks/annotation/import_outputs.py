"""Import of 50,000 outputs of 15 systems into SQLite, and the pages over them.

    python -m benchmarks.annotation.import_outputs

Prints seconds of the dry run and the import, and of each page, first and again. There is no peer:
the bounds are 30 s for the import and 1 s for a page.
"""

import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable
from typing import Any

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection, reset_queries
from django.test import Client
from django.urls import reverse

from annotation import uploads
from annotation.campaigns import open_campaign
from annotation.models import Annotator, Assignment, Campaign, Judgment, TestSet
from annotation.uploads import InputFile, Submission, SystemFile
from metrics.runs import scoring, starting
from tests.world import make_user

SYSTEMS, SEGMENTS = 15, 3_334
WORDS = "harbour river market street morning evening train window paper number light".split()


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(12, 30)))


def plain(name: str, lines: list[str]) -> InputFile:
    return InputFile.holding(name, ("\n".join(lines) + "\n").encode())


def submission() -> Submission:
    rng = random.Random(1)
    references = [sentence(rng) for _ in range(SEGMENTS)]
    systems = []
    for number in range(SYSTEMS):
        lines = [
            " ".join(word for word in line.split() if rng.random() > 0.03 * number + 0.05) or "a"
            for line in references
        ]
        systems.append(SystemFile(plain(f"s{number}.txt", lines), f"system-{number}"))
    return Submission(
        slug="large",
        name="Large",
        source_language="de",
        target_language="en",
        source=plain("source.txt", [f"Quelle {line}" for line in references]),
        references=[plain("reference.txt", references)],
        systems=systems,
    )


def timed(label: str, action: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = action()
    print(f"{label:42s} {time.perf_counter() - began:7.2f} s")
    return result


def judged_campaign() -> Campaign:
    """One judgment for every output, as 50,000 rows."""
    row = TestSet.objects.get(slug="large")
    campaign = Campaign.objects.create(
        slug="large", name="Large", test_set=row, annotators_per_item=1, traps_per_annotator=0
    )
    campaign.systems.set(row.systems.all())
    Annotator.objects.create(campaign=campaign, label="A1")
    timed("open a campaign of 50,000 items", lambda: open_campaign(campaign=campaign))
    rng = random.Random(2)
    assignments = Assignment.objects.filter(annotator__campaign=campaign)
    Judgment.objects.bulk_create(
        [
            Judgment(assignment=a, score=rng.randint(0, 100), submit_key=uuid_of(rng))
            for a in assignments
        ],
        batch_size=2_000,
    )
    return campaign


def uuid_of(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def pages(client: Client) -> None:
    addresses = {
        "test sets": reverse("testsets"),
        "test set": reverse("testset", args=["large"]),
        "campaigns": reverse("campaigns"),
        "campaign": reverse("campaign", args=["large"]),
        "quality": reverse("quality", args=["large"]),
        "correlations, computed": reverse("correlations", args=["large"]),
        "correlations, unchanged": reverse("correlations", args=["large"]),
        "runs": reverse("runs"),
    }
    for label, address in addresses.items():
        reset_queries()
        connection.force_debug_cursor = True
        began = time.perf_counter()
        assert client.get(address).status_code == 200
        seconds = time.perf_counter() - began
        print(f"page {label:37s} {seconds:7.2f} s {len(connection.queries):4d} queries")
        connection.force_debug_cursor = False


def main() -> None:
    call_command("migrate", verbosity=0)
    sent = submission()
    checked = timed("dry run of 50,010 outputs", lambda: uploads.check_submission(sent))
    timed("import of 50,010 outputs", lambda: uploads.store(checked.draft))
    judged_campaign()
    test_set = Campaign.objects.get().test_set
    for run in starting.start(
        test_set=test_set, metrics=["bleu-star", "sentbleu", "chrf", "rouge"], enqueue=False
    ).runs:
        timed(f"score with {run.metric}", lambda run=run: scoring.drain(run.pk, worker="here"))
    client = Client(headers={"host": "localhost"})
    client.force_login(make_user("reader", "researcher"))
    pages(client)


if __name__ == "__main__":
    main()
