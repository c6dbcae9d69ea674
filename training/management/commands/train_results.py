"""`manage.py train_results`: compare and test the results of the trainings of a sweep."""

from argparse import ArgumentParser
from collections.abc import Sequence
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
            "--mqm", type=Path, metavar="FILE", help="file of marked errors, as published"
        )
        parser.add_argument("--test-set", metavar="SLUG", help="test set of the judged outputs")
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
    path: Path | None = options["darr"] or options["mqm"]
    if path is None:
        return {}
    test_set = TestSet.objects.filter(slug=options["test_set"] or "").first()
    if test_set is None:
        raise RefusedCommandError(
            message(
                "command.needs-test-set",
                "--darr and --mqm need --test-set: the slug of a test set.",
            )
        )
    if options["darr"]:
        return {"daRR τ": sweeps.relative_ranks(path, test_set, wanted)}
    return {"MQM τ-b": sweeps.error_scores(path, test_set, wanted, options["without"])}


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
