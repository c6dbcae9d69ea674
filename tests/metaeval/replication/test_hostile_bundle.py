"""Bundles of strangers: they read nothing outside, fill no disk, and name what is wrong."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from metaeval.commands import main
from metaeval.replication.reproduce import LARGE
from tests.refusals import tells

LENGTHS = "system\tsegment\tlength\twanted\nA\t1\t8\t10\nA\t2\t9\t10\nB\t1\t10\t10\nB\t2\t12\t10\n"
SCORES = "system\tsegment\thuman\tm\nA\t1\t1\t2\nA\t2\t2\t1\nB\t1\t3\t3\nB\t2\t1\t4\n"
CORRELATIONS = ["correlations", "scores.tsv", "--human", "human"]


def bundle(folder: Path, **changes: Any) -> Path:
    """A bundle with one table, whose numbers are wrong."""
    folder.mkdir()
    (folder / "lengths.tsv").write_text(LENGTHS)
    (folder / "scores.tsv").write_text(SCORES)
    (folder / "expected.json").write_text("{}")
    table = {"name": "t", "arguments": ["lengths", "lengths.tsv"], "expected": "expected.json"}
    manifest = {"format": 1, "files": {}, "versions": {}, "tables": [table | changes.pop("t", {})]}
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))
    return folder


def test_it_is_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", str(bundle(tmp_path / "b"))]) == 1
    assert "the command" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../secret": "0"}},
        {"files": {"/etc/passwd": "0"}},
        {"t": {"expected": "../secret"}},
        {"t": {"arguments": ["lengths", "../secret"]}},
        {"t": {"arguments": [*CORRELATIONS, "--counts", "m:bleu=../secret"]}},
        {"t": {"arguments": [*CORRELATIONS, "--counts", "a=m:bleu=/../../secret"]}},
        {"t": {"arguments": [*CORRELATIONS, "--counts", "a=m:bleu=/etc/passwd"]}},
        {"t": {"arguments": ["correlate", "/etc", "--human", "x"]}},
        {"t": {"arguments": ["spans", "scores.tsv", "--people", "/etc/passwd"]}},
    ],
    ids=str,
)
def test_nothing_is_read_outside(
    changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text("SECRET")
    assert main(["reproduce", str(bundle(tmp_path / "b", **changes))]) in (1, 2)
    said = "".join(capsys.readouterr())
    assert tells(said, "bundle.outside-file")
    assert "SECRET" not in said


@pytest.mark.parametrize(
    "changes",
    [
        {"files": []}, {"files": None}, {"versions": []}, {"tables": {}}, {"tables": ["t"]},
        {"tables": [{}]}, {"t": {"arguments": "lengths"}}, {"t": {"arguments": ["lengths", 1]}},
        {"t": {"expected": None}}, {"t": {"name": {}}}, {"format": {}},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_manifests_are_refused(
    changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", str(bundle(tmp_path / "b", **changes))]) == 2
    assert "manifest.json" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["reproduce", "."], ["--help"], ["unknown"]])
def test_other_commands_are_a_difference(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", str(bundle(tmp_path / "b", t={"arguments": arguments}))]) == 1
    assert "the command" in capsys.readouterr().out


def test_names_move_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]0;x\x07\x9b2J\r\t{n:300000000}"
    made = bundle(tmp_path / "b", t={"name": hostile}, versions={"numpy": hostile})
    assert main(["reproduce", str(made)]) == 1
    out, err = capsys.readouterr()
    assert not {*"\x1b\x07\x9b\r"} & {*out, *err}
    assert "{n:300000000}" in out
    assert "{n:300000000}" in err


def test_a_zip_that_would_fill_the_disk_is_not_unpacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("manifest.json", "w") as entry,
    ):
        for _ in range(LARGE // 1_000_000 + 1):
            entry.write(bytes(1_000_000))
    assert main(["reproduce", str(path)]) == 2
    assert tells(capsys.readouterr().err, "bundle.too-large", times=100)
