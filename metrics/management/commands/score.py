"""`manage.py score`: score the outputs of a test set, on workers or here."""

import socket
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand, find_test_set, known_names
from annotation.models import System, TestSet
from core.commands import RefusedCommandError, refused_by
from core.text import pluralize
from metaeval.messages import Message, message, plural
from metrics import catalogue
from metrics.base import ScoreWarning
from metrics.contents import warnings_of
from metrics.models import MetricRun
from metrics.runs import scoring, starting, state, waiting
from metrics.scores import truncation_of
from metrics.support import Budget
from metrics.templatetags.run_numbers import duration, in_bytes, rate
from metrics.workers import capability, signatures

POLL_SECONDS = 0.5


class Command(BaseCommand):
    help = "Score the outputs of a test set; existing scores are not computed again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", metavar="TESTSET", help="slug of the test set")
        parser.add_argument(
            "--metric",
            action="append",
            required=True,
            metavar="METRIC",
            help="may be repeated; `manage.py models` lists them",
        )
        parser.add_argument(
            "--system",
            action="append",
            metavar="NAME[@RATIO]",
            help="may be repeated, e.g. strong or strong@0.8; by default all systems",
        )
        parser.add_argument("--money", type=float, help="budget of each judge, in its currency")
        parser.add_argument("--tokens", type=int, help="budget of each judge, in tokens")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--wait", action="store_true", help="wait until the workers are done")
        where.add_argument("--here", action="store_true", help="score here; needs no worker")

    def handle(self, *args: Any, **options: Any) -> None:
        known = catalogue.infos()
        for name in options["metric"]:
            if name not in known:
                raise RefusedCommandError(catalogue.refusal(name), known_names(known))
        chosen: list[str] = options["metric"]
        lacking: dict[str, list[Message]] = {}
        test_set = find_test_set(options["test_set"])
        language = test_set.target_language
        if options["here"]:
            lacking = {name: capability.lacking(known[name], language) for name in chosen}
        else:
            hosts = waiting.hosts_for((known[name] for name in chosen), language)
            lacking = {
                name: [each for missing in hosts[name].lacking.values() for each in missing]
                for name in chosen
                if hosts[name].is_stuck
            }
        for name, missing in lacking.items():
            for each in dict.fromkeys(missing):
                self.stderr.write(f"{known[name].label}: {each}")
        # Without --wait a run may wait until a host can score it.
        if options["here"] or options["wait"]:
            chosen = [name for name in chosen if not lacking.get(name)]
        systems = _find_systems(test_set, options["system"])
        try:
            started = starting.start(
                test_set=test_set,
                metrics=chosen,
                systems=systems,
                enqueue=not options["here"],
                budget=Budget(money=options["money"], tokens=options["tokens"]),
            )
        except ValidationError as error:
            raise refused_by(error) from error
        for refusal in started.refused:
            self.stderr.write(str(refusal))
        self._follow(started, here=options["here"], wait=options["wait"])
        if started.refused or set(chosen) < set(options["metric"]):
            raise RefusedCommandError(
                message("command.not-all-started", "Not every metric was started.")
            )

    def _follow(self, started: starting.Started, *, here: bool, wait: bool) -> None:
        for run in started.runs:
            self.stdout.write(f"{run.label}: run {run.pk} over {pluralize(run.total, 'text')}")
        for run in started.active:
            self.stdout.write(f"{run.label}: run {run.pk} was already active")
        if not (here or wait):
            return
        line = _Line(self.stdout)
        try:
            for run in [*started.runs, *started.active]:
                _follow(run, line, here=here)
                _write_log(run, self.stdout)
        except KeyboardInterrupt:
            self._leave(started.runs if here else [])
        self._report([*started.runs, *started.active])

    def _leave(self, own: Sequence[MetricRun]) -> NoReturn:
        """End after Ctrl-C: cancel the runs that are scored here; workers continue with others."""
        n_cancelled = sum(starting.cancel(run) for run in own)
        cancelled = plural(
            "command.runs-cancelled",
            "Cancelled {n} run. The scores computed so far are kept.",
            "Cancelled {n} runs. The scores computed so far are kept.",
            n=n_cancelled,
        )
        about = [cancelled] if n_cancelled else []
        raise RefusedCommandError(
            message("command.interrupted", "Interrupted."), *about, returncode=130
        )

    def _report(self, followed: Sequence[MetricRun]) -> None:
        """Write warnings and failures of the runs; fail if one did not end well."""
        warnings = (warning for run in followed for warning in _warnings(run))
        for warning in dict.fromkeys(warning.message for warning in warnings):
            self.stderr.write(str(warning))
        bad = [run for run in followed if run.status != MetricRun.Status.DONE]
        for run in bad:
            self.stderr.write(f"{run.label}: {run.get_status_display()}. {run.message}".strip())
        if bad:
            raise RefusedCommandError(
                plural(
                    "command.runs-failed",
                    "{n} of {total} runs failed or was cancelled.",
                    "{n} of {total} runs failed or were cancelled.",
                    n=len(bad),
                    total=len(followed),
                )
            )


def _warnings(run: MetricRun) -> tuple[ScoreWarning, ...]:
    truncated = truncation_of(run)
    about_texts = truncated.warnings(run.label) if truncated else ()
    return (*warnings_of(run), *about_texts, *scoring.of_run(run))


class _Line:
    """A line that is rewritten on a terminal; elsewhere it is written once at the end."""

    def __init__(self, out: Any) -> None:
        self._out, self._is_watched = out, out.isatty()

    def show(self, run: MetricRun) -> None:
        """Show the progress of a run; finally, after its end."""
        if self._is_watched:
            self._out.write("\r\x1b[K" + _progress(run), ending="" if run.is_active else "\n")
            self._out.flush()
        elif not run.is_active:
            self._out.write(_progress(run))


def _progress(run: MetricRun) -> str:
    text = f"{run.label}: {str(run.get_status_display()).lower()}, {run.done:,} of {run.total:,}"
    if run.reused:
        text += f", {run.reused:,} reused"
    if run.is_active and run.rate:
        text += f", {rate(run.rate)}, {duration(run.seconds_left)} left"
    if not run.is_active and run.seconds_taken is not None:
        text += f", {duration(run.seconds_taken)}"
    return text


def _follow(run: MetricRun, line: _Line, *, here: bool) -> None:
    """Watch a run until it has ended; with `here`, take part as soon as there is work."""

    def report() -> None:
        run.refresh_from_db()
        if run.is_active:
            line.show(run)

    name = f"manage.py score on {socket.gethostname()}"
    while True:
        if here:
            scoring.drain(run.pk, worker=name, report=report)
            if problem := signatures.load_problem(run):
                state.fail(run.pk, problem)
        report()
        if not run.is_active:
            line.show(run)
            return
        time.sleep(POLL_SECONDS)


def _write_log(run: MetricRun, out: Any) -> None:
    """Write the part of each worker, its device and its memory."""
    for worker in run.workers.all():
        parts = [worker.device, worker.precision, worker.batch and f"batches of {worker.batch}"]
        parts += [f"{pluralize(worker.segments, 'text')} in {duration(worker.seconds)}"]
        parts.append(rate(worker.average_rate))
        if worker.peak_bytes:
            parts.append(f"peak memory {in_bytes(worker.peak_bytes)}")
        if worker.device_peak_bytes:
            parts.append(f"{in_bytes(worker.device_peak_bytes)} on the device")
        if worker.is_lost:
            parts.append(str(worker.state))
        out.write(f"  {worker.name}: " + ", ".join(filter(None, parts)))


def _find_systems(test_set: TestSet, names: Sequence[str] | None) -> list[System] | None:
    """Find the systems that `--system` names; a name without a ratio means every length ratio."""
    if not names:
        return None
    found: dict[int, System] = {}
    for name in names:
        matching = _matching(test_set, name)
        if not matching:
            raise RefusedCommandError(
                message(
                    "command.no-system",
                    "The test set “{test_set}” has no system “{name}”.",
                    test_set=test_set.slug,
                    name=name,
                ),
                known_names(map(_full_name, test_set.systems.all())),
            )
        found |= {system.pk: system for system in matching}
    return list(found.values())


def _full_name(system: System) -> str:
    return f"{system.name}@{system.length_ratio.normalize():f}"


def _matching(test_set: TestSet, name: str) -> list[System]:
    systems = list(test_set.systems.filter(name=name))
    bare, _, ratio = name.rpartition("@")
    if systems or not bare:
        return systems
    try:
        return list(test_set.systems.filter(name=bare, length_ratio=Decimal(ratio)))
    except (InvalidOperation, ValidationError):
        return []
