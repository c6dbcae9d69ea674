"""No page computes statistics in the web process: every address is visited while numbers are only
asked for, and again once a worker has computed them; whatever runs of `metaeval` and scipy is seen.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.test import Client

import metaeval
from annotation.models import Annotator, Campaign, Output
from dashboards import analyses, results
from dashboards.models import Analysis
from tests.addresses import fill, routes

METAEVAL = str(Path(metaeval.__file__).parent)
SCIPY = "/scipy/"
ANALYSES = str(Path(analyses.__file__).parent)
COMPUTING = ("compute", "read_columns", "quality_report", "read_judgments", "human_scores")


@contextmanager
def watched() -> Iterator[set[str]]:
    """Collect the functions of statistics that this thread calls, as file:name."""
    found: set[str] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        path, name = code.co_filename, code.co_name
        if event != "call" or name == "<module>":
            return
        if path.startswith(METAEVAL) or SCIPY in path or (name in COMPUTING and "/templates" not in path):
            found.add(f"{Path(path).name}:{code.co_qualname}")

    sys.setprofile(see)
    try:
        yield found
    finally:
        sys.setprofile(None)


@pytest.fixture
def populated(rated: Campaign) -> Campaign:
    return rated


def test_probe(rated: Campaign, as_admin: Client, settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False
    output = Output.objects.filter(system__campaigns=rated).first()
    values = {"slug": [rated.slug, rated.test_set.slug], "fmt": ["json", "csv", "tex", "html", "mtme"], "pk": [str(output.pk)]}
    seen = {}
    for turn in range(2):
        for name, route in routes():
            if name in ("schema",): continue
            for address in fill(route, values):
                as_admin.raise_request_exception = False
                with watched() as found:
                    answer = as_admin.get(address)
                    if answer.streaming: b"".join(answer)
                if found: seen[turn, address, answer.status_code] = found
        while results.compute_waiting(): pass
    for k, v in seen.items(): print(k, sorted(v))
    assert 0
