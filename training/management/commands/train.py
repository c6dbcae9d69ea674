"""`manage.py train`: start a job on a worker or in this process."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError

from annotation.management.command_line import BaseCommand, known_names
from core.commands import RefusedCommandError, refused_by
from core.work.models import Work
from metaeval.messages import Message, message
from metrics.management.commands.add_metric import meaning_of, pairs_of
from training.contract import KINDS, TrainingKind
from training.jobs import presenting, starting, work
from training.models import ParallelCorpus, TrainingJob, stored_message
from training.templatetags.training_numbers import figure

POLL_SECONDS = 0.5


class Command(BaseCommand):
    help = (
        "Fit a projection, or train a metric or a translation model. `manage.py train KIND` lists "
        "the settings."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "kind", metavar="KIND", nargs="?", choices=sorted(KINDS), help=", ".join(KINDS)
        )
        parser.add_argument("--name", help="name of the resulting metric or model")
        parser.add_argument(
            "--corpus", action="append", default=[], metavar="NAME", help="may be repeated"
        )
        parser.add_argument(
            "--option", action="append", default=[], metavar="KEY=VALUE", help="may be repeated"
        )
        parser.add_argument(
            "--resume", type=int, metavar="JOB", help="resume a job that ended early"
        )
        place = parser.add_mutually_exclusive_group()
        place.add_argument("--wait", action="store_true", help="wait until a worker is done")
        place.add_argument(
            "--here", action="store_true", help="run in this process, without a worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["kind"] or options["resume"]):
            raise RefusedCommandError(
                message(
                    "command.job-kind",
                    "Give a kind of job ({kinds}), or --resume JOB.",
                    kinds=list(KINDS),
                )
            )
        if not (options["name"] or options["resume"]):
            self._explain(KINDS[options["kind"]])
            return
        try:
            job = self._resume(options) if options["resume"] else self._start(options)
        except ValidationError as error:
            raise refused_by(error) from error
        if options["here"]:
            self._here(job)
        elif options["wait"]:
            self._wait(job)

    def _start(self, options: dict[str, Any]) -> TrainingJob:
        """Start a job; with --here, resume the one that the same command did not finish."""
        wanted: dict[str, Any] = {
            "kind": options["kind"],
            "name": options["name"],
            "given": pairs_of(options["option"]),
            "corpora": [find_corpus(name) for name in options["corpus"]],
        }
        if options["here"] and (left := starting.left_by_command(**wanted)):
            return self._continue(left, here=True)
        job = starting.start(**wanted, here=options["here"])
        for each in () if options["here"] else starting.missing(KINDS[job.kind], job.options):
            self.stderr.write(f"warning: {each}")
        self.stdout.write(f"{job.label}: job {job.pk}, {job.name}")
        return job

    def _resume(self, options: dict[str, Any]) -> TrainingJob:
        if options["kind"] or options["name"]:
            raise RefusedCommandError(
                message(
                    "command.resume",
                    "--resume uses the settings of the job. Do not give a kind or a name.",
                )
            )
        job = TrainingJob.objects.filter(pk=options["resume"]).first()
        if job is None:
            raise RefusedCommandError(
                message("command.no-job", "There is no job {key}.", key=str(options["resume"]))
            )
        return self._continue(job, here=options["here"])

    def _continue(self, job: TrainingJob, *, here: bool) -> TrainingJob:
        starting.resume(job, here=here)
        self.stdout.write(f"{job.label}: job {job.pk}, {job.name}, continues from what it saved")
        return job

    def _explain(self, kind: TrainingKind) -> None:
        self.stdout.write(f"{kind.label}: {kind.description}")
        for option in kind.options:
            self.stdout.write(f"  --option {option.name}=…  {meaning_of(option)}")

    def _here(self, job: TrainingJob) -> None:
        try:
            work.work_here(job)
        except KeyboardInterrupt:
            starting.cancel(job)
            raise RefusedCommandError(
                message(
                    "command.job-cancelled",
                    "Interrupted. The job is cancelled. Run the same command to resume it.",
                ),
                returncode=130,
            ) from None
        except (OperationalError, InterfaceError) as error:
            raise RefusedCommandError(
                message(
                    "command.database",
                    "The database stopped responding: {error}. Run the same command to resume.",
                    error=str(error),
                )
            ) from error
        self._report(job)

    def _wait(self, job: TrainingJob) -> None:
        try:
            while job.is_active:
                time.sleep(POLL_SECONDS)
                job.refresh_from_db()
        except KeyboardInterrupt:
            raise RefusedCommandError(
                message(
                    "command.goes-on",
                    "Interrupted. {name} continues on its worker.",
                    name=f"{job.label} {job.pk}",
                ),
                returncode=130,
            ) from None
        self._report(job)

    def _report(self, job: TrainingJob) -> None:
        """Print how it ended; raise RefusedCommandError if it is not done."""
        job.refresh_from_db()
        if job.status != TrainingJob.Status.DONE:
            raise RefusedCommandError(*how_it_ended(job.name, job))
        made = f" It made the metric {job.metric.name}." if job.metric else ""
        self.stdout.write(f"{job.name} is done.{made}")
        for each in (*job.warnings, *(job.verdict.sentences if job.verdict else ())):
            self.stdout.write(str(each))
        for value in presenting.show(presenting.findings(job)).facts:
            self.stdout.write(f"  {value.label}: {figure(value.value)}")


def how_it_ended(name: str, row: Work) -> list[Message]:
    """Return the state of a job that is not done, and the reason if there is one."""
    state = message(
        "command.ended", "{name}: {state}.", name=name, state=str(row.get_status_display())
    )
    return [state, stored_message(row.message)] if row.message else [state]


def find_corpus(name: str) -> ParallelCorpus:
    """Return a corpus. Raises RefusedCommandError, with the known ones, if there is none."""
    try:
        return ParallelCorpus.objects.get(name=name)
    except ParallelCorpus.DoesNotExist:
        raise RefusedCommandError(
            message("command.no-corpus", "There is no corpus “{name}”.", name=name),
            known_names(ParallelCorpus.objects.values_list("name", flat=True)),
        ) from None
