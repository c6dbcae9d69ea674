"""`manage.py train_results`: compare and test the results of the trainings of a sweep."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand, find_campaign
from annotation.models import TestSet
from core.commands import RefusedCommandError, refused_by
from core.numbers import signed
from dashboards.correlations.agreement import correlate
from metaeval.messages import message
from metaeval.significance import SeedComparison
from metrics import catalogue
from training import sweeps
from training.sweeps import ColumnError, Setting, Values


@dataclass(frozen=True)
class Best:
    """A setting's values by test set, nan where there is none.

    ``of_average`` are those of the seed with the best average (tables 1 to 3), ``of_each`` the best
    of any seed for each test set (tables 7 to 9). Both choose seeds by the judgments that they are
    compared with, so both are too high for new judgments.
    """

    label: str
    of_average: list[float]
    of_each: list[float]


def titles_of(test_sets: Sequence[TestSet]) -> list[str]:
    """Return the language pairs of test sets, or the addresses where two have the same pair."""
    pairs = [each.direction for each in test_sets]
    return pairs if len(set(pairs)) == len(pairs) else [each.slug for each in test_sets]


def best(label: str, values: Sequence[Values]) -> Best:
    """Choose among seeds; `values` are those of one setting for each test set."""
    shared = set.intersection(*(set(each) for each in values))
    chosen = max(sorted(shared), key=lambda seed: sum(each[seed] for each in values), default=None)
    return Best(
        label,
        [np.nan if chosen is None else each[chosen] for each in values],
        [max(each.values(), default=np.nan) for each in values],
    )


def rows_of(
    settings: Sequence[Setting], columns: Mapping[str, sweeps.Column], metrics: Sequence[str]
) -> list[Best]:
    """Return a row for every metric without seeds, and then for every setting."""
    fixed = [
        Best(name, found, found)
        for name in metrics
        for found in [[column.get(name, np.nan) for column in columns.values()]]
    ]
    return fixed + [
        best(each.label, [sweeps.column(each, column) for column in columns.values()])
        for each in settings
    ]


class Command(BaseCommand):
    help = (
        "Tabulate a sweep: mean and standard deviation over seeds of the accuracy on held-out "
        "texts and, optionally, of the agreement with human judgments. Each setting is tested "
        "against the first, or against a metric."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sweep", metavar="SWEEP")
        human = parser.add_mutually_exclusive_group()
        human.add_argument(
            "--campaign",
            metavar="SLUG",
            help="segment τ-b and r with the human scores of a campaign",
        )
        human.add_argument("--darr", type=Path, metavar="FILE", help="file of WMT's relative ranks")
        human.add_argument(
            "--mqm", type=Path, action="append", metavar="FILE",
            help="file of marked errors, as published; one per --test-set",
        )  # fmt: skip
        parser.add_argument(
            "--test-set", action="append", default=[], metavar="SLUG",
            help="test set of the judged outputs; several are also shown in one table, with the "
            "seed that has the best average and with the best seed of each",
        )  # fmt: skip
        parser.add_argument(
            "--metric", action="append", default=[], metavar="METRIC",
            help="a metric as a further row of the table of several test sets; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--without", action="append", default=[], metavar="SYSTEM",
            help="with --mqm: exclude a system, such as a human translation; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--against", metavar="METRIC", help="test every setting against this metric"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = sweeps.group(sweeps.trainings_of(options["sweep"]))
            wanted = sweeps.metrics_of(found)
            if options["against"]:
                wanted.append(_known(options["against"]))
            wanted += [_known(name) for name in options["metric"]]
            named = _columns(options, wanted)
        except ValidationError as error:
            raise refused_by(error) from error
        except ColumnError as error:
            raise refused_by(error) from error
        if options["against"] and not named:
            raise RefusedCommandError(
                message("command.against", "--against needs --campaign, --darr or --mqm.")
            )
        self._jobs(found)
        for label, read in (("accuracy", sweeps.accuracies), ("variation", sweeps.variations)):
            self._table(label, [(each, read(each)) for each in found], None)
        for label, values in named.items():
            rows = [(each, sweeps.column(each, values)) for each in found]
            self._table(label, rows, _baseline(values, options["against"]))
        if len(options["test_set"]) > 1:
            self._directions(rows_of(found, named, options["metric"]), list(named))

    def _directions(self, rows: Sequence[Best], titles: Sequence[str]) -> None:
        """Write two tables, values with tabs between them."""
        for label, name in (
            ("the seed with the best average", "of_average"),
            ("the best seed of each", "of_each"),
        ):
            self.stdout.write(f"\n{label}")
            self.stdout.write("\t".join(["setting", *titles, "average"]))
            for row in rows:
                values = getattr(row, name)
                numbers = [f"{value:.4f}" for value in [*values, np.mean(values)]]
                self.stdout.write("\t".join([row.label, *numbers]))

    def _jobs(self, found: Sequence[Setting]) -> None:
        n_jobs = sum(len(each.jobs) for each in found)
        n_done = sum(len(each.done) for each in found)
        self.stdout.write(f"{n_done} of {n_jobs} trainings are done.")

    def _table(
        self, label: str, rows: Sequence[tuple[Setting, Values]], baseline: float | None
    ) -> None:
        if not any(values for _, values in rows):
            return
        self.stdout.write(f"\n{label}: mean ± standard deviation, seeds")
        first = baseline if baseline is not None else rows[0][1]
        for place, (setting, values) in enumerate(rows):
            tested = None
            if baseline is not None or place:
                tested = sweeps.compare(values, first)
            self.stdout.write(f"  {setting.label:<24} {_summary(values)}{_test(tested)}")
        if baseline is not None:
            self.stdout.write(
                f"  tested against {signed(baseline, 4)}, which does not depend on the seed"
            )


def _columns(options: dict[str, Any], wanted: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return columns by title: the value of every metric that has one."""
    if options["campaign"]:
        return _of_campaign(options["campaign"], wanted)
    kind = "daRR τ" if options["darr"] else "MQM τ-b"
    files: list[Path] = [options["darr"]] if options["darr"] else options["mqm"] or []
    if not files:
        return {}
    sets = [_test_set(slug) for slug in options["test_set"] or [""]]
    if options["darr"]:
        files = files * len(sets)
    if len(files) != len(sets):
        raise RefusedCommandError(
            message(
                "command.mqm-per-test-set",
                "There are {files} files after --mqm and {sets} test sets. Give one file per "
                "test set, in the same order.",
                files=len(files),
                sets=len(sets),
            )
        )
    titles = titles_of(sets)
    labels = [kind] if len(sets) == 1 else [f"{kind} {title}" for title in titles]
    return {
        label: sweeps.relative_ranks(path, test_set, wanted)
        if options["darr"]
        else sweeps.error_scores(path, test_set, wanted, options["without"])
        for label, path, test_set in zip(labels, files, sets, strict=True)
    }


def _test_set(slug: str) -> TestSet:
    test_set = TestSet.objects.filter(slug=slug).first()
    if test_set is None:
        raise RefusedCommandError(
            message(
                "command.needs-test-set",
                "--darr and --mqm need --test-set: the short name of a test set.",
            )
        )
    return test_set


def _of_campaign(slug: str, wanted: Sequence[str]) -> dict[str, dict[str, float]]:
    campaign = find_campaign(slug)
    keys = {catalogue.get(name).table_measures[0] for name in wanted}
    rows = [row for row in correlate(campaign).rows if row.key in keys]
    return {
        "segment τ-b": {row.metric: row.tau for row in rows if row.tau is not None},
        "segment r": {row.metric: row.r_segment for row in rows if row.r_segment is not None},
    }


def _known(name: str) -> str:
    if name not in catalogue.infos(retired=True):
        raise RefusedCommandError(catalogue.refusal(name))
    return name


def _baseline(values: dict[str, float], against: str | None) -> float | None:
    if not against:
        return None
    if against not in values:
        raise RefusedCommandError(
            message(
                "command.no-scores",
                "{metric} has no scores there. Compute them with manage.py score.",
                metric=against,
            )
        )
    return float(values[against])


def _summary(values: Values) -> str:
    if not values:
        return "–"
    spread = f" ± {np.std(list(values.values()), ddof=1):.4f}" if len(values) > 1 else ""
    return f"{signed(float(np.mean(list(values.values()))), 4)}{spread}, {len(values)}"


def _test(found: SeedComparison | None) -> str:
    if found is None:
        return ""
    noted = "".join(f" – {warning.message}" for warning in found.warnings)
    comparison = message(
        "sweep.comparison",
        "difference {difference:+.4f}, {permutation:p} (permutation), {t:p} (t), {wilcoxon:p} "
        "(Wilcoxon), ε {epsilon:.2f}",
        difference=found.difference,
        permutation=found.permutation,
        t=found.t,
        wilcoxon=found.wilcoxon,
        epsilon=found.epsilon,
    )
    return f"; {comparison}{noted}"
