"""`manage.py train_sweep`: start the trainings of a table of the paper, or others."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand, values_by_name
from core.commands import RefusedCommandError, refused_by
from metaeval.messages import message
from training.jobs import starting
from training.management.commands.train import find_corpus


class Command(BaseCommand):
    help = "Train ReFreeEval with several settings and seeds, as jobs for workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "sweep", metavar="SWEEP", help="name of the sweep; a name in use gets a number"
        )
        parser.add_argument("--corpus", action="append", required=True, help="may be repeated")
        parser.add_argument(
            "--table",
            choices=list(starting.TABLES),
            help="settings of a table of the paper; for c2, five of its seven values",
        )
        parser.add_argument(
            "--vary", action="append", default=[], metavar="NAME=A,B,…", help="may be repeated"
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of all jobs"
        )
        seeds = ",".join(map(str, starting.SEEDS))
        parser.add_argument("--seeds", default=seeds, help=f"default: {seeds}")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            started = starting.start_sweep(
                kind="refreeeval",
                name=options["sweep"],
                grid=starting.expand_grid(_values(options)),
                corpora=[find_corpus(name) for name in options["corpus"]],
            )
        except ValidationError as error:
            raise refused_by(error) from error
        if sweep := started[0].sweep:
            self.stdout.write(
                f"Started {len(started)} jobs. When they are done: manage.py train_results {sweep}"
            )
        else:
            self.stdout.write(f"Started one job, so there is no sweep: {started[0].name}")


def _values(options: dict[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the values of every given setting, the seed last."""
    varied: dict[str, Sequence[Any]] = dict(starting.TABLES.get(options["table"] or "", {}))
    varied |= {name: value.split(",") for name, value in _pairs(options["vary"]).items()}
    fixed = {name: [value] for name, value in _pairs(options["set"]).items()}
    seeds = {"seed": _seeds(options["seeds"])}
    doubled = (varied.keys() & fixed.keys()) | (seeds.keys() & (varied.keys() | fixed.keys()))
    if doubled:
        raise RefusedCommandError(
            message("command.twice", "{names}: given twice.", names=sorted(doubled))
        )
    return {**varied, **fixed, **seeds}


def _pairs(given: list[str]) -> dict[str, str]:
    split = [each.partition("=") for each in given]
    for name, equals, value in split:
        if not (name and equals and value):
            raise RefusedCommandError(
                message(
                    "command.setting", "{text}: write it as NAME=VALUE.", text=name + equals + value
                )
            )
    return values_by_name((name, value) for name, _, value in split)


def _seeds(given: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in given.split(",")))
    except ValueError:
        raise RefusedCommandError(
            message(
                "command.seeds",
                "--seeds {text}: write whole numbers separated by commas.",
                text=given,
            )
        ) from None
