"""`manage.py demo`: run the app with its demo on one machine.

Loads the demo if it is missing, then runs a web server and its workers until Ctrl-C. All data are
in the `var` folder, so the next start continues from there.
"""

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, reverse

from annotation.access import ADMIN
from annotation.demo import DEMO_PASSWORD, load_demo
from annotation.demo.load import LOGINS, STUDY
from annotation.management.command_line import BaseCommand
from annotation.models import Campaign, TestSet
from core.commands import RefusedCommandError
from core.work.supervising import supervise, worker
from dashboards.documents.computing import QUICK, SLOW
from dashboards.models import Analysis
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.models import MetricRun
from metrics.registry import METRICS
from metrics.runs.starting import start
from metrics.stock import inventory

# The pages that visitors open first, of the study and of each of its campaigns.
FIRST_PAGES = (
    "results", "correlations", "systems", "quality", "significance", "scatter", "whatif",
    "samplesize", "power", "report",
)  # fmt: skip


class Command(BaseCommand):
    help = "Start the app with its demo: web server and workers, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--load-only", action="store_true", help="store the demo and exit")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        collecting = None
        # A second demo of one folder waits until the first has made the database.
        with (settings.VAR_DIR / "demo-turn").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if not options["load_only"]:
                _require_free(host, port)
                collecting = _collect()
            self._say("Preparing the database …")
            call_command("migrate", verbosity=0)
            self._say("Storing the demo: texts, simulated judgments, logins (once, some seconds) …")
            test_sets = load_demo()
            for test_set in test_sets:
                start(test_set=test_set, metrics=_not_yet_run(test_set))
        if options["load_only"]:
            return
        self._say("Starting the web server and the workers …")
        os.environ["TOUCHSTONE_DEMO"] = _start_page()
        if collecting is not None and collecting.wait():
            raise RefusedCommandError(
                message(
                    "command.not-collected",
                    "The files of the pages could not be collected. The reason is above.",
                )
            )
        threading.Thread(target=self._make_ready, args=[host, port, test_sets], daemon=True).start()
        sys.exit(supervise([_web(host, port), *_workers()], program="the demo"))

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def _make_ready(self, host: str, port: int, test_sets: Sequence[TestSet]) -> None:
        """Announce the demo when the numbers of its study are there."""
        self._say("Computing scores and results (once, a minute or two) …")
        _open_pages(test_sets)
        while Analysis.objects.filter(status__in=Analysis.ACTIVE).exists():
            time.sleep(1)
        connection.close()
        self._announce(host, port)

    def _announce(self, host: str, port: int) -> None:
        address = f"http://{'localhost' if host == '127.0.0.1' else host}:{port}/"
        names = ", ".join(LOGINS)
        self.stdout.write(
            f"\nTouchstone is at {address}\n"
            f"  logins    {names}\n"
            f"  password  {DEMO_PASSWORD}\n"
            f"Judgments and scores are kept in {settings.VAR_DIR}. Ctrl-C stops everything.\n"
        )
        self.stdout.flush()


def _start_page() -> str:
    """Return the page of the study, or the list of campaigns where there are no studies."""
    try:
        return reverse("study", args=[STUDY])
    except NoReverseMatch:
        return reverse("campaigns")


def _open_pages(test_sets: Sequence[TestSet]) -> None:
    """Wait for the scores, then open the pages that visitors open first: that computes them."""
    active = MetricRun.objects.filter(test_set__in=test_sets, status__in=MetricRun.ACTIVE)
    while active.exists():
        time.sleep(1)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(User.objects.filter(groups__name=ADMIN)[0])
    slugs = Campaign.objects.filter(study=STUDY).order_by("slug").values_list("slug", flat=True)
    pages = [f"/campaigns/{slug}/{page}/" for page in FIRST_PAGES for slug in slugs]
    for page in [_start_page(), *pages]:
        with suppress(Exception):  # the web server answers the same, and says what is wrong
            browser.get(page)


def _not_yet_run(test_set: TestSet) -> list[str]:
    """Return metrics without a run, except cancelled ones.

    Of the metrics with a checkpoint, only the packaged one is run automatically.
    """
    seen = set(MetricRun.objects.filter(test_set=test_set).values_list("metric", flat=True))
    wanted = [name for name, (info, _) in METRICS.items() if not info.checkpoint]
    neural = inventory.metric_for(test_set.target_language)
    return [name for name in (*wanted, neural) if name and name not in seen]


def _collect() -> subprocess.Popen[bytes] | None:
    """Hash and compress changed static files in the background."""
    # With DEBUG, pages load the original files.
    is_current = getattr(staticfiles_storage, "is_current", None)
    if is_current is None or is_current():
        return None
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    return subprocess.Popen(command, cwd=settings.BASE_DIR)  # noqa: S603


def _require_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise RefusedCommandError(
                message(
                    "command.port",
                    "Port {port:d} is taken ({reason}). Try: make demo PORT={next:d}",
                    port=port,
                    reason=reason_of(error),
                    next=port + 1,
                )
            ) from error


def _web(host: str, port: int) -> list[str]:
    """Return the command of one process with threads, which suits a demo and SQLite."""
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{host}:{port}"]
    return [*command, "--workers", "1", "--threads", "8", "--log-level", "warning"]


def _workers() -> list[list[str]]:
    """Return the commands of workers: scoring; documents with mail; slow documents with imports.

    They resume the jobs of killed workers, including those of an earlier demo. Documents have a
    lower priority than the web server where there are fewer processors than processes.
    """
    return [
        worker("scoring", "cpu,gpu,judges"),
        ["nice", *worker(QUICK, f"{QUICK},mail")],
        ["nice", "-n", "15", *worker(SLOW, f"{SLOW},slow", "--concurrency", "2")],
    ]
