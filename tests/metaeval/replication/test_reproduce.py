"""What is compared of the messages in a bundle: codes and parameters, never the wording."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval.commands import main, run_command
from metaeval.replication import FORMAT, plain, reproduce, versions

QUESTION = ["question", "scores.tsv", "--human", "human", "--seed", "1", "--statistic", "tau-b",
            "--floors", "floors.tsv"]  # fmt: skip
Change = Callable[[Any], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draws = np.random.default_rng(5)
    scores, floors = ["system\tsegment\thuman\tgood\tpoor"], ["system\tsegment\tfloor-random"]
    for segment in range(20):
        for system in "abcd":
            human, *noise = draws.normal(size=4).round(3).tolist()
            metrics = human + noise[0] / 2, noise[1]
            scores.append("\t".join(map(str, (system, segment, human, *metrics))))
            floors.append(f"{system}\t{segment}\t{noise[2]}")
    (tmp_path / "scores.tsv").write_text("\n".join(scores) + "\n")
    (tmp_path / "floors.tsv").write_text("\n".join(floors) + "\n")
    write(tmp_path, plain(run_command(QUESTION, tmp_path)))
    table = {"name": "tau", "arguments": QUESTION, "expected": "expected.json"}
    manifest = {"format": FORMAT, "files": {}, "versions": versions(), "tables": [table]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def write(folder: Path, document: Any) -> None:
    (folder / "expected.json").write_text(json.dumps(document))


def changed(value: Any, change: Change) -> Any:
    """A document with every message changed, those within messages first."""
    if isinstance(value, dict):
        found = {key: changed(each, change) for key, each in value.items()}
        return change(found) if "pattern" in found else found
    return [changed(each, change) for each in value] if isinstance(value, list) else value


def places(folder: Path, change: Change) -> set[str]:
    document = json.loads((folder / "expected.json").read_text())
    write(folder, changed(document, change))
    return {each.place for each in reproduce(folder, run_command).differences}


def test_messages_are_in_the_table_with_their_parameters(folder: Path) -> None:
    document = json.loads((folder / "expected.json").read_text())
    for name in ("interval", "test", "floor_test"):
        assert {"code", "parameters", "text"} <= document[name].keys(), name
    assert document["interval"]["parameters"]["method"]["parameters"]["n"] == 20
    assert main(["reproduce", str(folder)]) == 0


def test_another_wording_is_no_difference(folder: Path) -> None:
    assert places(folder, lambda each: each | {"pattern": "Else", "text": "Else"}) == set()


def test_a_bundle_that_has_texts_only_reproduces(folder: Path) -> None:
    assert places(folder, lambda each: "as it was worded before") == set()


def test_states_of_older_bundles_have_another_name(folder: Path) -> None:
    document = json.loads((folder / "expected.json").read_text())
    states = [row["state"] for row in document["against"]]
    assert "not-above" in states
    text = (folder / "expected.json").read_text().replace('"not-above"', '"not above"')
    (folder / "expected.json").write_text(text)
    assert reproduce(folder, run_command).differences == ()
    (folder / "expected.json").write_text(text.replace('"not above"', '"below"'))
    assert reproduce(folder, run_command).differences


def test_a_changed_parameter_is_a_difference(folder: Path) -> None:
    def change(each: Any) -> Any:
        n = each["parameters"].get("n")
        return each | {"parameters": each["parameters"] | {"n": n + 1}} if n else each

    assert any(place.startswith("interval.parameters") for place in places(folder, change))


def test_another_code_is_a_difference(folder: Path) -> None:
    found = places(folder, lambda each: each | {"code": "another.code"})
    assert {"interval.code", "test.code", "floor_test.code"} <= found


def test_a_message_that_the_bundle_lacks_is_a_difference(folder: Path) -> None:
    document = json.loads((folder / "expected.json").read_text())
    del document["test"]
    write(folder, document)
    assert "test" in {each.place for each in reproduce(folder, run_command).differences}
