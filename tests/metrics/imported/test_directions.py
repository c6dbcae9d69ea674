"""The direction of imported metrics through page, command, API and folders of mt-metrics-eval."""

import json
from collections.abc import Callable, Mapping
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Campaign, TestSet
from annotation.uploads import InputFile, Report
from metaeval.files import EvalSet, EvalSetScores, write_evalset
from metrics import catalogue
from metrics.datasets import mtme
from metrics.imported.checking import check
from metrics.imported.files import Choices
from metrics.imported.storing import shown_imports
from tests.metrics.imported.test_views import filled, read_again
from tests.world import World

Door = Callable[..., str]
PAGE, API = "/testsets/harbour/scores/", "/api/imports/metric-scores/"


@pytest.fixture
def owner(world: World, as_admin: Client) -> Client:
    """A client of the test set's owner."""
    TestSet.objects.filter(pk=world.test_set.pk).update(created_by=world.admin)
    return as_admin


def by_page(client: Client, folder: Path, text: str, stated: Mapping[str, str]) -> str:
    """Import on the page with what the preview proposes; return the preview."""
    sent = {"tables": SimpleUploadedFile("scores.tsv", text.encode())}
    address = client.post(PAGE, sent).headers["Location"]
    page = client.get(address).text
    names = text.splitlines()[0].split("\t")[2:]
    chosen = {f"better-{names.index(name)}": better for name, better in stated.items()}
    if chosen:
        address, page = read_again(client, address, filled(page, **chosen))
    client.post(address, filled(page, **{"import": "1"}))
    return unescape(page)


def by_command(client: Client, folder: Path, text: str, stated: Mapping[str, str]) -> str:
    """Import by command; return its output."""
    path, out = folder / "scores.tsv", StringIO()
    path.write_text(text)
    options = [f"--{better}-is-better={name}" for name, better in stated.items()]
    try:
        call_command("import_scores", "harbour", path, *options, stdout=out, stderr=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


def by_api(client: Client, folder: Path, text: str, stated: Mapping[str, str]) -> str:
    """Import over the API; return its answer as text."""
    files = [SimpleUploadedFile("scores.tsv", text.encode())]
    data: dict[str, Any] = {"test_set": "harbour", "files": files}
    for better in ("lower", "higher"):
        data[f"{better}_is_better"] = [name for name, each in stated.items() if each == better]
    return json.dumps(client.post(API, data).json(), ensure_ascii=False)


DOORS = pytest.mark.parametrize("door", [by_page, by_command, by_api])


def table(name: str, *values: float) -> str:
    """Scores of one metric for the outputs of one system."""
    rows = [f"strong\t{n}\t{value}" for n, value in enumerate(values, 1)]
    return "\n".join([f"system\tsegment\t{name}", *rows, ""])


def directions() -> dict[str, bool]:
    """Return of every metric shown whether higher is better."""
    infos = catalogue.infos(retired=True)
    shown = shown_imports(TestSet.objects.get(slug="harbour"))
    return {infos[name].label: infos[name].higher_is_better for name in shown}


@DOORS
@pytest.mark.parametrize("name", ["TER", "mean_penalty", "MetricX-24", "ppl", "WER"])
@pytest.mark.parametrize("sign", [1, -1])
def test_error_rates_are_turned_unless_they_are_already(
    world: World, owner: Client, tmp_path: Path, door: Door, name: str, sign: int
) -> None:
    door(owner, tmp_path, table(name, *(sign * value for value in (0.5, 0, 2))), {})
    assert directions() == {f"{name} (imported)": sign < 0}
    [row] = shown_imports(world.test_set).values()
    note = row.provenance.parameters["note"]
    assert note.code == ("direction.stored-lower" if sign > 0 else "direction.stored-higher")
    expected = "direction.positive" if sign > 0 else "direction.negated"
    assert note.parameters["reason"].code == expected


@DOORS
@pytest.mark.parametrize("name", ["COMET", "COMET-MQM", "chrF", "BLEURT"])
def test_other_metrics_are_better_when_higher(
    world: World, owner: Client, tmp_path: Path, door: Door, name: str
) -> None:
    door(owner, tmp_path, table(name, 0.5, 0.2, 0.1), {})
    assert directions() == {f"{name} (imported)": True}


@DOORS
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_stated_direction_holds_and_is_kept_by_the_next_import(
    world: World, owner: Client, tmp_path: Path, door: Door, better: str
) -> None:
    for name in ("TER", "COMET"):
        door(owner, tmp_path, table(name, 0.5, 0, 2), {name: better})
    expected = dict.fromkeys(["TER (imported)", "COMET (imported)"], better == "higher")
    assert directions() == expected
    for name in ("TER", "COMET"):
        door(owner, tmp_path, table(name, 0.5, 0, 2, 3), {})
    assert directions() == expected


@DOORS
def test_an_unclear_direction_is_asked_for_or_refused(
    world: World, owner: Client, tmp_path: Path, door: Door
) -> None:
    text = table("TER", -1, 0, 2)
    shown = door(owner, tmp_path, text, {})
    assert "--lower-is-better" in shown
    assert "lower_is_better" in shown
    assert directions() == {}
    if door is by_page:
        assert '<option value="" selected>choose</option>' in shown
    door(owner, tmp_path, text, {"TER": "lower"})
    assert directions() == {"TER (imported)": False}


def test_both_directions_of_one_metric_are_refused(world: World) -> None:
    file = InputFile.holding("scores.tsv", table("TER", 1, 2).encode())
    both = frozenset(["TER"])
    checked = check(world.test_set, [file], Choices(lower=both, higher=both))
    assert [each.code for each in checked.report.errors] == ["scores.both-directions"]


@pytest.mark.parametrize(("options", "is_lower"), [({}, True), ({"higher": ["TER-refA"]}, False)])
def test_folders_of_mt_metrics_eval_have_directions_too(
    db: None, tmp_path: Path, options: dict[str, list[str]], is_lower: bool
) -> None:
    """Positive MQM is a penalty; a cell without a metric score is missing, and counted."""
    penalty = {"A": np.array([0.0, 5, 1]), "B": np.array([1.0, 6, np.nan])}
    write_evalset(
        EvalSet(
            name="t", language_pair="en-de", sources=("a", "b", "c"), documents=(), references={},
            outputs={"A": ("d", "e", "f"), "B": ("g", "h", "i")},
            human_scores={("mqm", "seg"): EvalSetScores(penalty)},
            metric_scores={("TER-refA", "seg"): EvalSetScores(penalty)},
        ),
        tmp_path / "t",
    )  # fmt: skip
    report = Report()
    draft = mtme.read(tmp_path / "t", "en-de", report, mtme.Choice(**options))
    assert not report.errors
    [campaign], [metric] = draft.campaigns, draft.metrics
    assert campaign.lower_is_better
    assert campaign.output_scores["B", "2"] == 6
    assert metric.higher_is_better is not is_lower
    notes = {(each.code, each.message.parameters["name"]): each.message for each in report.notes}
    assert notes["mtme.missing-scores", "TER-refA"].parameters["n"] == 1
    assert ("direction.column-lower", "mqm") in notes
    call_command("import_mtme", tmp_path / "t", stdout=StringIO(), stderr=StringIO())
    assert Campaign.objects.get().lower_is_better
