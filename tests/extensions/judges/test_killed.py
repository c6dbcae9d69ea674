"""A worker that is killed in the middle of a run: what it has paid for is not paid again."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from annotation.models import Output, Segment, System
from annotation.models.corpus import content_key
from metrics import catalogue
from metrics.runs import starting
from tests.extensions.judges.server import Answer, prompt_of, serving
from tests.shared import copy_pages
from tests.world import make_world

ROOT = Path(__file__).parents[3]
TEXTS, CONNECTIONS = 300, 4
# Seconds after which something hangs.
WAIT = 120
SCORE = """
import django; django.setup()
from tests.extensions.judges.test_killed import set_up
set_up()
from metrics.models import MetricRun
from metrics.runs import scoring
scoring.drain(MetricRun.objects.get().pk)
"""


def set_up() -> None:
    """A run of many texts; in the database of the processes, not in that of the tests."""
    world = make_world()
    system = System.objects.create(test_set=world.test_set, name="many")
    for n in range(TEXTS):
        segment = Segment.objects.create(
            test_set=world.test_set, key=f"many-{n}", position=1000 + n, source=f"Satz {n}"
        )
        text = f"Sentence {n}"
        key = content_key(segment.source, (), text)
        Output.objects.create(system=system, segment=segment, text=text, content_key=key)
    options = {"endpoint": "local", "model": "tiny", "template": "direct-assessment@1"}
    catalogue.configure(family="judge", name="judge-a", label="Judge A", options=options)
    starting.start(test_set=world.test_set, metrics=["judge-a"], systems=[system], enqueue=False)


def test_nothing_that_was_stored_is_paid_again(migrated: Path, tmp_path: Path) -> None:
    is_midway, is_killed = threading.Event(), threading.Event()

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if len(server.seen) >= TEXTS // 3:
            # What is on its way from here on gets its reply after the death.
            is_midway.set()
            is_killed.wait(WAIT)
        return Answer('{"score": 50}')

    copy_pages(migrated, tmp_path / "touchstone.sqlite3")
    with serving(respond) as server:
        declared = [server.endpoint(connections=CONNECTIONS)]
        environment = os.environ | {
            "TOUCHSTONE_VAR": str(tmp_path),
            "DATABASE_URL": "",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "JUDGE_ENDPOINTS": json.dumps(declared),
            "RUN_STALE_SECONDS": "5",
            "PYTHONPATH": str(ROOT),
        }
        run = [sys.executable, "-c"]
        with subprocess.Popen([*run, SCORE], cwd=ROOT, env=environment) as worker:
            assert is_midway.wait(WAIT)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            is_killed.set()
        n_before = len(server.seen)
        assert n_before < TEXTS
        told = finish(run, environment)
        assert told == "done 300 0"
        asked = [prompt_of(each) for each in server.seen]
    twice = len(asked) - len(set(asked))
    # What was on its way, and what came while the last replies were being stored.
    assert twice <= 3 * CONNECTIONS


FINISH = """
import django; django.setup()
from core.work.reconciling import reconcile
from metrics.models import JudgeConnection, MetricRun, Slice
from metrics.runs import scoring
long_ago = "2000-01-01T00:00:00Z"
# As after the seconds for which a dead process is believed to live.
Slice.objects.filter(status="running").update(expires_at=long_ago)
JudgeConnection.objects.update(expires_at=long_ago)
reconcile(has_room=False)
run = MetricRun.objects.get()
scoring.drain(run.pk)
run.refresh_from_db()
print(run.status, run.done, run.failed)
"""


def finish(run: list[str], environment: dict[str, str]) -> str:
    """Let another process go on, as workers do once the claim of the dead one has expired."""
    done = subprocess.run(
        [*run, FINISH], cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
        timeout=240,
    )  # fmt: skip
    return done.stdout.strip()
