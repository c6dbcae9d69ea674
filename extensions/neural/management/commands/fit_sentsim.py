"""`manage.py fit_sentsim`: fit SentSim's ranges to a test set's scores and add a metric."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError

from annotation.management.command_line import BaseCommand, find_test_set
from annotation.models import Output, TestSet
from core import disk
from core.commands import NOTHING_STORED, RefusedCommandError, refused_by
from core.numbers import decimals
from extensions.neural.sentences.options import PARTS, Ranges, fit
from metaeval.messages import message
from metrics import catalogue
from metrics.base import MetricError, MetricInfo, Scores
from metrics.scores import latest_signatures, load_scores


class Command(BaseCommand):
    help = (
        "Fit SentSim's ranges to the scores of a test set and add the metric that scales by them. "
        "On that test set its scores equal the published ones."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", metavar="TESTSET", help="slug of the test set")
        parser.add_argument("name", metavar="NAME", help="name of the new metric")
        parser.add_argument("--label", help="its label (default: the name)")
        parser.add_argument(
            "--metric", default="sentsim", help="SentSim metric with scores of the parts"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        test_set = find_test_set(options["test_set"])
        info = _find(options["metric"])
        scores = _load(test_set, info)
        try:
            ranges = fit(scores[:, 0], scores[:, 1], -scores[:, 2])
            row = catalogue.configure(
                family="sentsim",
                name=options["name"],
                label=options["label"] or options["name"],
                options=dict(info.options) | _as_options(ranges),
            )
        except ValidationError as error:
            raise refused_by(error) from error
        except ValueError as error:
            raise refused_by(error) from error
        except DatabaseError as error:
            problem = disk.refusal(error, Path(settings.VAR_DIR))
            if problem is None:
                raise
            raise RefusedCommandError(problem, NOTHING_STORED) from error
        self.stdout.write(f"{row.label}: fitted to {len(scores):,} texts of {test_set.slug}")
        for part in PARTS:
            low, high = getattr(ranges, part)
            self.stdout.write(f"{part}: {decimals(low, 6)} to {decimals(high, 6)}")


def _find(name: str) -> MetricInfo:
    try:
        info = catalogue.get(name)
    except MetricError as error:
        raise refused_by(error) from error
    if info.family != "sentsim":
        raise RefusedCommandError(
            message(
                "command.no-sentsim",
                "{metric} does not belong to the family SentSim.",
                metric=info.label,
            )
        )
    return info


def _load(test_set: TestSet, info: MetricInfo) -> Scores:
    """Return the (n, …) scores of the distinct contents of a test set."""
    outputs = Output.objects.filter(system__test_set=test_set).order_by()
    keys = list(outputs.values_list("content_key", flat=True).distinct())
    signature = latest_signatures(test_set).get(info.name)
    if signature is None:
        raise _missing(test_set, info, len(keys), len(keys))
    scores = load_scores(signature, test_set.systems.all(), keys)
    n_missing = int(np.isnan(scores[:, 0]).sum())
    if n_missing:
        raise _missing(test_set, info, n_missing, len(keys))
    return scores


def _missing(test_set: TestSet, info: MetricInfo, n: int, total: int) -> RefusedCommandError:
    return RefusedCommandError(
        message(
            "command.not-scored",
            "Texts without a score of {metric}: {n} of {total}. Score them with: {command}",
            metric=info.label,
            n=n,
            total=total,
            command=f"manage.py score {test_set.slug} --metric {info.name}",
        )
    )


def _as_options(ranges: Ranges) -> dict[str, float]:
    ends = {part: getattr(ranges, part) for part in PARTS}
    lows = {f"{part}-min": low for part, (low, _) in ends.items()}
    return lows | {f"{part}-max": high for part, (_, high) in ends.items()}
