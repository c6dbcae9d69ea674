"""`manage.py hardest TESTSET --metric METRIC`: the segments that a metric finds hardest."""

from argparse import ArgumentParser
from typing import Any

import numpy as np

from annotation.management.command_line import BaseCommand, find_test_set, known_names
from annotation.models import Segment
from core.commands import RefusedCommandError, refused_by
from metaeval.arrays import positive_int
from metaeval.messages import DataError, message
from metrics.scores import measure_keys, system_scores


class Command(BaseCommand):
    help = (
        "List the keys of segments from the worst to the best mean score over all systems, for "
        "the sample of a campaign. Sentinels, which read the source alone, need no good outputs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", metavar="TESTSET", help="slug of the test set")
        parser.add_argument("--metric", required=True, help="a metric with scores of its outputs")
        parser.add_argument("--size", type=int, help="how many segments; default: all with a score")

    def handle(self, *args: Any, **options: Any) -> None:
        size = options["size"]
        if size is not None:
            try:
                positive_int("--size", size)
            except DataError as error:
                raise refused_by(error) from error
        test_set = find_test_set(options["test_set"])
        found = system_scores(test_set)
        if options["metric"] not in found.measures:
            raise RefusedCommandError(
                message(
                    "hardest.no-scores",
                    "“{metric}” has no scores in this test set.",
                    metric=options["metric"],
                ),
                known_names(measure_keys(test_set)),
            )
        measure = found.measures[options["metric"]]
        is_known = ~np.isnan(measure.values).all(axis=0)
        means = np.nanmean(measure.values[:, is_known], axis=0)
        order = np.argsort(means if measure.higher_is_better else -means, kind="stable")
        names = dict(Segment.objects.filter(test_set=test_set).values_list("pk", "key"))
        keys = [names[found.segments[place]] for place in np.flatnonzero(is_known)[order]]
        self.stdout.write("\n".join(keys[:size]))
