"""How `manage.py demo` starts what it is made of, and ends it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.demo.load import STUDY
from annotation.models import Campaign, TestSet
from core.work.supervising import RESTARTS, farewell, worker
from dashboards.management.commands import demo
from dashboards.models import Analysis
from tests.world import make_demo

ROOT = Path(__file__).resolve().parents[2]
# A process that says where it stands and waits; its child would outlive it.
ONE = """
import json, os, signal, subprocess, sys
child = subprocess.Popen(["sleep", "1000"])
print(json.dumps([os.getpid(), os.getpgid(0), os.getsid(0), os.nice(0), child.pid]), flush=True)
signal.pause()
"""
SUPERVISE = """
import signal, sys
import django
django.setup()
# As in a terminal: who starts tests in the background may have it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from core.work.supervising import supervise
one = [sys.executable, "-c", sys.argv[1]]
sys.exit(supervise([one, ["nice", "-n", "5", *one]], program="the demo"))
"""


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_documents_give_way_and_ctrl_c_ends_all(tmp_path: Path) -> None:
    """Linux weighs `nice` against processes of the same session alone."""
    command = [sys.executable, "-c", SUPERVISE, ONE]
    environment = {**os.environ, "TOUCHSTONE_VAR": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        told = [json.loads(started.stdout.readline()) for _ in range(2)]
        started.send_signal(signal.SIGINT)
        assert started.wait() == 0
    assert {session for _, _, session, _, _ in told} == {os.getsid(0)}
    assert all(group == pid for pid, group, *_ in told)
    assert {niceness - os.nice(0) for *_, niceness, _ in told} == {0, min(5, 19 - os.nice(0))}
    assert not any(is_running(pid) for own, _, _, _, child in told for pid in (own, child))


def test_a_process_that_ends_by_itself_is_named() -> None:
    for command, name in (
        (worker("scoring", "cpu"), "The worker “scoring”"),
        (["nice", "-n", "5", *worker("documents", "mail")], "The worker “documents”"),
        (demo._web("127.0.0.1", 8000), "The web server"),
    ):
        said = farewell(command, -9, is_again=False, program="the demo")
        assert said.startswith(f"{name} was killed by signal 9, so")
    command = [sys.executable, "-c", SUPERVISE, "raise SystemExit(3)"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "status 3" in ended.stderr


def test_a_worker_that_is_killed_is_started_again_so_often() -> None:
    """`worker@%h` stands where celery has the name."""
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    once = SUPERVISE.replace("sys.argv[1]]", "sys.argv[1], 'scoring@%h']")
    command = [sys.executable, "-c", once, killed]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = "The worker “scoring” was killed by signal 9"
    assert ended.stderr.count(f"{said}. It is being restarted; no data are lost.") == RESTARTS
    assert ended.stderr.count(f"{said}, so the demo stops.") == 1
    assert ended.returncode != 0


@pytest.mark.django_db
def test_what_visitors_open_first_is_computed_unasked() -> None:
    """Every campaign of the finished study, and none that is open."""
    make_demo()
    demo._open_pages(TestSet.objects.all())
    finished = set(Campaign.objects.filter(study=STUDY).values_list("pk", flat=True))
    asked = set(Analysis.objects.values_list("campaign", flat=True)) - {None}
    assert asked == finished
    assert len(finished) == 4
