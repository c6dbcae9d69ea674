"""Missing cells of human and metric scores, through page, command and API."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.models import Campaign, TestSet
from metrics.models import MetricImport
from tests.annotation.tables import test_directions as human
from tests.metaeval.files.test_cells import MARKERS, SCORES, columns_of
from tests.metrics.imported import test_lines as metrics
from tests.metrics.imported.test_lines import folder
from tests.world import World

__all__ = ["folder"]
Door = Callable[..., str]
DOORS = pytest.mark.parametrize(
    ("of_humans", "of_metrics"),
    [
        (human.by_page, metrics.by_page),
        (human.by_command, metrics.by_command),
        (human.by_api, metrics.by_api),
    ],
)


def counts(world: World) -> dict[str, int]:
    """How many scores of outputs are stored, by name; the test set becomes the admin's."""
    TestSet.objects.filter(slug="own").update(created_by=world.admin)
    found = {row.metric: row.n_outputs for row in MetricImport.objects.all()}
    return found | {"human": Campaign.objects.get(slug="own").published_scores.count()}


@DOORS
@pytest.mark.parametrize("name", ["nan", "none", "inf", "humanNA"])
def test_missing_cells_are_skipped_and_counted(
    world: World, as_admin: Client, folder: Path, of_humans: Door, of_metrics: Door, name: str
) -> None:
    path = SCORES / f"{name}.tsv"
    columns = {key: ~np.isnan(each) for key, each in columns_of(path).items()}
    there = {key: int(columns[key].sum()) for key in ("human", "good", "poor")}
    of_humans(as_admin, folder, path.read_text(), {})
    assert counts(world)["human"] == there["human"]
    if there["human"] < 200:
        return
    shown = of_metrics(as_admin, "scores.tsv", path.read_text(), "")
    assert counts(world) == {"human": there["human"], "imported-good": there["good"],
                             "imported-poor": there["poor"]}  # fmt: skip
    assert ("5 infinite" in shown) == (name == "inf")


@DOORS
def test_every_marker_is_a_missing_cell(
    world: World, as_admin: Client, folder: Path, of_humans: Door, of_metrics: Door
) -> None:
    """B has a human score for each segment, and A for the first alone."""

    def table(name: str, systems: str) -> str:
        rows = [f"A\t{n}\t{marker}" for n, marker in enumerate(MARKERS, 1)]
        rows += [f"B\t{n}\t{n % 7}" for n in range(1, len(MARKERS) + 1)]
        own = [row for row in [*rows, "A\t0\t0.5"] if row[0] in systems]
        return "\n".join([f"system\tsegment\t{name}", *own, ""])

    of_humans(as_admin, folder, table("da", "AB"), {})
    n = len(MARKERS)
    assert counts(world) == {"human": n + 1}
    cells = [row.split("\t")[2] for row in table("m", "A").splitlines()[1 : n + 1]]
    rows = [f"B\t{number}\t{cell}" for number, cell in enumerate(cells, 1)]
    of_metrics(as_admin, "m.tsv", "\n".join(["system\tsegment\tm", *rows, "A\t0\t1", ""]), "")
    assert counts(world) == {"human": n + 1, "imported-m": 1}


@DOORS
def test_another_word_is_an_error_with_file_row_and_field(
    world: World, as_admin: Client, folder: Path, of_humans: Door, of_metrics: Door
) -> None:
    text = "system\tsegment\tda\tm\nA\t1\t1\t1\nA\t2\t2\tgood\nA\t3\t3\t3\n"
    of_humans(as_admin, folder, text, {})
    TestSet.objects.filter(slug="own").update(created_by=world.admin)
    shown = of_metrics(as_admin, "m.tsv", text, "")
    assert "m.tsv, row 3, m: “good”" in shown
    assert not MetricImport.objects.exists()
    Campaign.objects.all().delete()
    shown = of_humans(as_admin, folder, text.replace("\t2\t2", "\t2\tfine"), {})
    assert "“fine”" in shown
    assert not Campaign.objects.filter(slug="own").exists()
