"""How many modules one request runs through, and how often it goes from one to another.

    python -m benchmarks.house

Traces a judgment's POST, the start and scoring of a metric run, and a correlations page that is
already computed, in this process with a temporary SQLite file. Prints, for each, the distinct
modules of ours in which a function was called, and how often a call went to another module than
the call before it.
"""

import inspect
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ.setdefault("CELERY_EAGER", "yes")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from benchmarks.annotation.browsing import Browser
from benchmarks.planting import analysed, planted

ROOT = f"{Path(__file__).parents[1]}/"
OUTSIDE = ("benchmarks/", "tests/", ".venv/")


class Trace:
    """The modules of ours in which functions are called, in the order of the calls."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.changes = 0
        self._last = ""

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Count one event of the interpreter's profiler."""
        # Bodies of modules and classes run where they are imported.
        if event != "call" or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        path = frame.f_code.co_filename
        if not path.startswith(ROOT) or path[len(ROOT) :].startswith(OUTSIDE):
            return
        self.modules.add(path)
        self.changes += self._last not in ("", path)
        self._last = path


@contextmanager
def traced(name: str) -> Iterator[None]:
    """Print what is called within."""
    trace = Trace()
    sys.setprofile(trace.note)
    try:
        yield
    finally:
        sys.setprofile(None)
    print(f"{name}: {len(trace.modules)} modules, {trace.changes} changes of module")
    if "-v" in sys.argv:
        for path in sorted(trace.modules):
            print("  ", path.removeprefix(ROOT))


class InProcess(Browser):
    """An annotator's browser that asks this process."""

    def ask(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Answer with status, location and body."""
        client: Client = vars(self).setdefault("client", Client())
        headers = {"accept": "application/json"} if fields or "/ahead/" in address else {}
        if method == "POST":
            with traced("judgment"):
                response = client.post(address, fields, headers=headers)
        else:
            response = client.get(address, fields, headers=headers)
        return response.status_code, response.headers.get("Location", ""), response.text


def main() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    campaign, tokens = planted(
        "sea", mode="static", segments=40, systems=4, annotators=2, per_item=2
    )
    analysed()
    browser = InProcess(0, tokens[0])
    browser.enter()
    for _ in range(4):  # the first ones import what they need
        browser.rate()
    admin = User.objects.create_superuser("admin")
    client = Client()
    client.force_login(admin)
    start = {"systems": list(campaign.test_set.systems.values_list("pk", flat=True))}
    for metric in ("bleu", "chrf"):
        with traced("run"):
            client.post(
                reverse("run-start", args=[campaign.test_set.slug]), start | {"metrics": [metric]}
            )
    for _ in range(3):
        with traced("correlations"):
            response = client.get(reverse("correlations", args=[campaign.slug]))
        assert response.status_code == 200, response.status_code


if __name__ == "__main__":
    main()
