"""`manage.py add_metric`: configure a metric of a family, as the page of metrics does."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand, values_by_name
from core.commands import RefusedCommandError, refused_by
from metaeval.messages import message
from metrics import catalogue, registry
from metrics.base import MetricError, MetricInfo
from metrics.catalogue import everything_known
from metrics.options import Family, Option


class Command(BaseCommand):
    help = "Add a metric of a family; `manage.py add_metric FAMILY` lists its options."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("family", metavar="FAMILY", help=", ".join(registry.family_keys()))
        parser.add_argument("name", metavar="NAME", nargs="?", help="for addresses and files")
        parser.add_argument("--label", help="for tables; by default the name")
        parser.add_argument(
            "--option", action="append", default=[], metavar="KEY=VALUE", help="may be repeated"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="describe the metric, but do not add it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with everything_known():
            self._handle(options)

    def _handle(self, options: dict[str, Any]) -> None:
        family = _family(options["family"])
        if not options["name"]:
            self._explain(family)
            return
        wanted = {
            "family": family.key,
            "name": options["name"],
            "label": options["label"] or options["name"],
            "options": pairs_of(options["option"]),
        }
        try:
            if options["dry_run"]:
                self._show(catalogue.describe(**wanted), "Would add")
            else:
                self._show(catalogue.configure(**wanted).info, "Added")
        except ValidationError as error:
            raise refused_by(error) from error
        except (ValueError, MetricError) as error:
            raise refused_by(error) from error

    def _explain(self, family: Family) -> None:
        self.stdout.write(f"{family.label}: {family.description}")
        for option in family.options:
            self.stdout.write(f"  --option {option.name}=…  {meaning_of(option)}")

    def _show(self, info: MetricInfo, verb: str) -> None:
        shown = ", ".join(info.table_measures)
        self.stdout.write(f"{verb} {info.name}; tables show {shown}.")
        self.stdout.write(f"Values per segment: {len(info.measures)}. {info.description}")


def _family(key: str) -> Family:
    try:
        return registry.get_family(key)
    except MetricError as error:
        raise refused_by(error) from error


def pairs_of(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for key, sign, _ in pairs:
        if not sign:
            raise RefusedCommandError(
                message("command.option", "--option {text}: write it as KEY=VALUE.", text=key)
            )
    return values_by_name((key, value) for key, _, value in pairs)


def meaning_of(option: Option) -> str:
    about = [str(option.label), str(option.help)]
    if option.choices:
        about.append(f"one of {', '.join(option.choices)}")
    about.append("required" if option.default is None else f"default {option.default}")
    return "; ".join(text.rstrip(".") for text in about if text)
