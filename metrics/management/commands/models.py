"""`manage.py models`: list checkpoints, compare their hashes, fetch them from the hub."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.command_line import BaseCommand
from core.commands import RefusedCommandError, refused_by
from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import fetching, places
from metrics.stock import hosts, inventory
from metrics.stock.hosts import Stock
from metrics.templatetags.run_numbers import in_bytes


class Command(BaseCommand):
    help = "List the checkpoints that metrics need: their folders here, or how to get them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--verify", action="store_true", help="compare the files with their SHA256SUMS"
        )
        parser.add_argument(
            "--fetch",
            action="append",
            metavar="NAME",
            help="fetch a checkpoint from the hub into TOUCHSTONE_MODELS; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            places.refuse_pickles()
            for name in options["fetch"] or []:
                self._fetch(name)
        except MetricError as error:
            raise refused_by(error) from error
        if not options["fetch"]:
            self._list(verify=options["verify"])

    def _fetch(self, name: str) -> None:
        folder = fetching.fetch(name, self.stdout.write)
        self.stdout.write(f"{name} is in {folder}")
        found = inventory.look(name)
        for other in found["needs"] if found else []:
            if not inventory.find(other):
                self.stdout.write(
                    f"It also needs the configuration and the tokenizer of {other}: "
                    f"{hosts.fetch_command(other)}"
                )

    def _list(self, *, verify: bool) -> None:
        n_bad = 0
        for stock in hosts.survey([], inventory.everything_here()):
            self.stdout.write(_line(stock))
            if verify and stock.places:
                n_bad += self._verify(stock)
        if n_bad:
            raise RefusedCommandError(
                message(
                    "command.checkpoints-differ",
                    "Checkpoints that differ from {file}: {n}.",
                    file=places.SUMS,
                    n=n_bad,
                )
            )

    def _verify(self, stock: Stock) -> bool:
        """Write the problems of the files of a checkpoint; return True if there are any."""
        found = stock.places[0].found
        self.stdout.write(f"  {in_bytes(found['size'])}")
        if not found["has_sums"]:
            self.stdout.write(f"  there is no {places.SUMS} to compare with")
            return False
        problems = places.verify(Path(found["path"]))
        for problem in [*map(str, problems)] or ["the hashes are correct"]:
            self.stdout.write(f"  {problem}")
        return bool(problems)


def _line(stock: Stock) -> str:
    users = ", ".join([*(info.label for info in stock.users), *stock.used_by]) or "not used"
    if not stock.places:
        return f"{users}: {places.missing_message(stock.name)}"
    return f"{users}: {stock.name} in {stock.places[0].found['path']}"
