"""A fake metric as fast as hashing, and texts for it, in a database of their own."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

os.environ.setdefault("TOUCHSTONE_VAR", tempfile.mkdtemp(prefix="touchstone-benchmark-"))
os.environ["CELERY_EAGER"] = "no"
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
ROOT = Path(__file__).resolve().parents[3]
SYSTEMS, LAYERS, WIDTH, DIMENSIONS = 10, 13, 39, 16
SCRATCH = "touchstone_engine"


@contextmanager
def scratch_database() -> Iterator[None]:
    """Make a new database on the server of DATABASE_URL the one that everything here uses."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        yield
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{SCRATCH}"')
        server.execute(f'CREATE DATABASE "{SCRATCH}"')
        os.environ["DATABASE_URL"] = urlunsplit(urlsplit(url)._replace(path=f"/{SCRATCH}"))
        yield
        server.execute(f'DROP DATABASE "{SCRATCH}" WITH (FORCE)')


def set_up() -> None:
    """Load Django and make the fake metric known."""
    import django

    django.setup()
    from metrics import registry
    from metrics.base import MetricInfo

    measures = tuple(f"fake-{layer}-{part}" for layer in range(LAYERS) for part in "prf")
    info = MetricInfo("fake", "Fake encoder", measures, measures, True, True)
    registry.METRICS["fake"] = (info, "benchmarks.metrics.engine.fake:FakeEncoder")


class FakeEncoder:
    """As fast as hashing: what is left is the engine's own cost."""

    def __init__(self, info: object, **languages: str) -> None:
        self.info = info

    def signature(self) -> str:
        return os.environ["FAKE_SIGNATURE"]

    def score(self, inputs: Any) -> object:
        import numpy as np

        def vectors(texts: list[str]) -> np.ndarray:
            digests = b"".join(
                hashlib.blake2b(text.encode(), digest_size=DIMENSIONS).digest() for text in texts
            )
            return np.frombuffer(digests, np.uint8).reshape(len(texts), DIMENSIONS) / 255.0

        left = vectors([one.hypothesis for one in inputs])
        right = vectors([one.references[0] for one in inputs])
        similarity = (left * right).mean(axis=1)
        return np.outer(similarity, np.arange(1, WIDTH + 1))


def make_texts(n_texts: int) -> None:
    """A test set of ten systems, all texts different and of some 20 words."""
    from annotation.models import Output, Reference, Segment, System, TestSet
    from annotation.models.corpus import content_key

    words = "harbour river market street morning evening train window paper number light".split()
    filler = " ".join(words * 2)
    test_set = TestSet.objects.create(
        slug="large", name="Large", source_language="de", target_language="en"
    )
    n_segments = n_texts // SYSTEMS
    Segment.objects.bulk_create(
        Segment(test_set=test_set, position=n, key=str(n), source=f"Quelle {n} {filler}")
        for n in range(n_segments)
    )
    segments = list(test_set.segments.order_by("position"))
    Reference.objects.bulk_create(
        Reference(segment=segment, text=f"Reference {segment.position} {filler}")
        for segment in segments
    )
    for number in range(SYSTEMS):
        system = System.objects.create(test_set=test_set, name=f"system-{number}")
        rows = []
        for segment in segments:
            text = f"Output {segment.position} of {number} {filler}"
            key = content_key(segment.source, [f"Reference {segment.position} {filler}"], text)
            rows.append(Output(system=system, segment=segment, text=text, content_key=key))
        Output.objects.bulk_create(rows, batch_size=5_000)
