"""`manage.py train_sweep`: start the trainings of one of the paper's tables, or of any other."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from training import sweeps
from training.models import ParallelCorpus


class Command(BaseCommand):
    help = "Train ReFreeEval under several settings and seeds, as jobs over the workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sweep", metavar="SWEEP", help="a new name")
        parser.add_argument("--corpus", action="append", required=True, help="may be repeated")
        parser.add_argument("--table", choices=list(sweeps.TABLES), help="one of the paper's")
        parser.add_argument(
            "--vary", action="append", default=[], metavar="NAME=A,B,…", help="may be repeated"
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="the same for all"
        )
        seeds = ",".join(map(str, sweeps.SEEDS))
        parser.add_argument("--seeds", default=seeds, help=f"default: {seeds}")

    def handle(self, *args: Any, **options: Any) -> None:
        vary: dict[str, Any] = dict(sweeps.TABLES.get(options["table"] or "", {}))
        vary |= {name: value.split(",") for name, value in _pairs(options["vary"]).items()}
        try:
            started = sweeps.start(
                name=options["sweep"],
                corpora=_corpora(options["corpus"]),
                vary=vary,
                seeds=_seeds(options["seeds"]),
                given=_pairs(options["set"]),
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{len(started)} jobs; then: manage.py train_results {options['sweep']}")


def _pairs(given: list[str]) -> dict[str, str]:
    split = [each.partition("=") for each in given]
    for name, equals, value in split:
        if not (name and equals and value):
            raise CommandError(f"{name}{equals}{value}: expected NAME=VALUE.")
    return {name: value for name, _, value in split}


def _seeds(given: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in given.split(",")))
    except ValueError:
        raise CommandError(f"--seeds {given}: expected whole numbers and commas.") from None


def _corpora(names: list[str]) -> list[ParallelCorpus]:
    found = {corpus.name: corpus for corpus in ParallelCorpus.objects.filter(name__in=names)}
    for name in names:
        if name not in found:
            known = ", ".join(ParallelCorpus.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"There is no corpus {name!r}. Known: {known}.")
    return [found[name] for name in names]
