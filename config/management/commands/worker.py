"""`touchstone worker`: everything that this machine can compute, with one command."""

import os
import sys
from argparse import ArgumentParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.management.command_line import BaseCommand
from core.commands import RefusedCommandError
from core.work.supervising import supervise, worker
from dashboards.documents.computing import QUICK, SLOW
from metaeval.messages import message
from metrics.workers.devices import gpu_ids

# Slices of work end within a second; a document may take longer, and is then computed anew.
GRACE_SECONDS = 60
# A child that grew beyond this part of the memory is replaced after its job, and what it had cached
# is read anew; smaller ones stay in any case.
PART, LEAST_KB = 32, 400_000
# The limit of a container, in bytes or “max”.
LIMIT = Path("/sys/fs/cgroup/memory.max")


class Command(BaseCommand):
    help = (
        "Take every kind of background job that can be done here: documents of pages, mail, "
        "imports, metrics, with torch neural metrics, and judges if endpoints are configured."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues", default="", metavar="NAME,NAME",
            help=f"take only these queues: {', '.join(settings.WORK_QUEUES)}",
        )  # fmt: skip
        parser.add_argument(
            "--processes", type=int, default=os.cpu_count() or 1,
            help="processes that compute lexical metrics (default: one per processor)",
        )  # fmt: skip
        parser.add_argument("--gpus", type=int, help="processes that compute neural metrics")
        parser.add_argument("--loglevel", default="info", help="level of the workers' logs")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = [name for name in options["queues"].split(",") if name]
        if unknown := set(chosen) - set(settings.WORK_QUEUES):
            raise RefusedCommandError(
                message(
                    "command.no-queue",
                    "There is no queue “{name}”. The queues are {queues}.",
                    name=min(unknown),
                    queues=list(settings.WORK_QUEUES),
                )
            )
        if min(options["processes"], options["gpus"] or 1) < 1:
            raise RefusedCommandError(
                message("command.processes", "--processes and --gpus must be at least 1.")
            )
        commands = workers(chosen or possible_queues(), options)
        sys.exit(supervise(commands, program="the worker", grace_seconds=GRACE_SECONDS))


def possible_queues() -> list[str]:
    """Return the queues with jobs that this machine can do."""
    lacking = set() if find_spec("torch") else {"gpu"}
    lacking |= set() if settings.JUDGE_ENDPOINTS else {"judges"}
    return [name for name in settings.WORK_QUEUES if name not in lacking]


def workers(queues: list[str], options: dict[str, Any]) -> list[list[str]]:
    """Return the commands of Celery's workers, one for each group of queues with jobs alike.

    Quick jobs do not wait for slow ones. Documents yield to everything else on the machine, slow
    ones most. Only the workers of neural metrics and of training see GPUs.
    """
    on_gpus = options["gpus"] or max(1, len(gpu_ids()))
    yielding, largest = ["nice", "-n"], ("--max-memory-per-child", str(largest_kb()))
    groups: list[tuple[tuple[str, ...], list[str], int, tuple[str, ...]]] = [
        (("cpu",), [], options["processes"], ()),
        (("gpu",), [], on_gpus, ()),
        (("judges",), [], 1, ()),
        ((QUICK, "mail"), [*yielding, "10"], 2, largest),
        ((SLOW, "slow"), [*yielding, "15"], 2, largest),
    ]
    commands = []
    for members, prefix, children, more in groups:
        if names := [name for name in members if name in queues]:
            given = ("--concurrency", str(children), "--loglevel", options["loglevel"], *more)
            command = worker(names[0], ",".join(names), *given)
            commands.append([*prefix, "env", *_environment("gpu" in names), *command])
    return commands


def largest_kb() -> int:
    """Return how large a child that computes documents may stay, in KiB."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = LIMIT.read_text().strip() if LIMIT.exists() else ""
    if limit.isdecimal():
        memory = min(memory, int(limit))
    return max(LEAST_KB, memory // PART // 1024)


def _environment(is_on_gpus: bool) -> list[str]:
    """Return variables: processes have one thread each; workers never download checkpoints."""
    usual = {"HF_HUB_OFFLINE": "1"} if is_on_gpus else {"OMP_NUM_THREADS": "1"}
    given = [f"{name}={value}" for name, value in usual.items() if name not in os.environ]
    return given if is_on_gpus else [*given, "CUDA_VISIBLE_DEVICES="]
