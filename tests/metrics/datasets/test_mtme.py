"""mt-metrics-eval folders come in whole, once, and with every wrong file named."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.exports import FORMATS
from annotation.imports import tables
from annotation.models import (
    Annotator,
    Campaign,
    ErrorSpan,
    Judgment,
    PublishedScore,
    Reference,
    System,
    TestSet,
)
from annotation.models.corpus import NO_SOURCE
from metaeval.files import EvalSet, EvalSetScores, write_evalset
from metrics.models import ConfiguredMetric
from metrics.scores import system_scores
from tests.annotation.test_exports import direct, wipe
from tests.refusals import refused
from tests.world import make_dataset

Files = dict[str, str]


def rating(*spans: tuple[int, int, str], **more: Any) -> str:
    errors = [
        {"start": start, "end": end, "category": None, "severity": severity, "score": 1.0, **more}
        for start, end, severity in spans
    ]
    return json.dumps({"errors": errors})


def small(**changes: Any) -> EvalSet:
    """Two systems and a judged reference on three segments, with MQM and scores of a metric."""
    none = (None, None)
    values: dict[str, Any] = {
        "name": "set",
        "language_pair": "en-de",
        "sources": ("a house", "b", "d"),
        "documents": (("news", "d1"), ("news", "d1"), ("chat", "d2")),
        "references": {"refA": ("ein Haus", "s", "t")},
        "outputs": {"Z.1-x": ("das Haus", None, ""), "A": ("Haus", "w", "x")},
        "human_scores": {
            ("mqm", "seg"): EvalSetScores(
                {"Z.1-x": np.array([-6.0, np.nan, np.nan]), "refA": np.array([0.0, np.nan, -1.0])}
            ),
            ("wmt-z", "sys"): EvalSetScores({"A": np.array([0.5]), "Z.1-x": np.array([np.nan])}),
        },
        "metric_scores": {
            ("m-refA", "seg"): EvalSetScores(
                {"Z.1-x": np.array([0.1, 1 / 3, 5.0]), "A": np.array([1.0, 2.0, 3.0])}
            ),
            ("m-refA", "sys"): EvalSetScores({"Z.1-x": np.array([9.0]), "A": np.array([8.0])}),
        },
        "ratings": {
            "mqm.merged": {
                "Z.1-x": (
                    (rating((0, 3, "minor"), (4, 8, "Major")), "r1"),
                    none,
                    none,
                ),
                "refA": ((rating(), "r1"), none, (rating((0, 1, "minor")), "r2")),
            }
        },
    }
    return EvalSet(**{**values, **changes})


def written(tmp_path: Path, evalset: EvalSet | None = None) -> Path:
    write_evalset(evalset or small(), tmp_path / "set")
    return tmp_path / "set"


def exported(campaign: Campaign) -> Files:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(FORMATS["mtme"].pieces(campaign))))
    return {name: archive.read(name).decode() for name in archive.namelist()}


def lay_out(files: Files, folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")


def test_what_mqm_we_export_comes_back_unchanged(db: None, data_dir: Path, tmp_path: Path) -> None:
    make_dataset("mqm-ted")
    before = exported(Campaign.objects.get())
    spans = ErrorSpan.objects.count()
    lay_out(before, tmp_path)
    wipe()
    call_command("import_mtme", tmp_path)
    campaign = Campaign.objects.get()
    assert exported(campaign) == before
    assert (campaign.slug, campaign.protocol) == ("mqm-ted-zh-en-mqm", "mqm")
    assert ErrorSpan.objects.count() == spans == 5618
    assert campaign.annotators.count() == 9
    # The README table of WMT21, 0.42 refB ... 5.52 ref, rests on these judgments.
    assert not PublishedScore.objects.exists()
    wanted = list(tables.read_table(data_dir / "mqm-ted/zh-en/seg-scores.tsv"))
    stored = Judgment.objects.values_list(
        "assignment__item__segment__position", "assignment__item__output__system__name", "penalty"
    )
    place = {key: n for n, key in enumerate(dict.fromkeys(row["seg_id"] for row in wanted))}
    assert {(place[r["seg_id"]], r["system"]): r.real("mqm") for r in wanted} == pytest.approx(
        {(position, system): -penalty for position, system, penalty in stored}
    )


def test_published_scores_and_z_scores_come_back_unchanged(db: None, tmp_path: Path) -> None:
    before = exported(direct())
    lay_out(before, tmp_path)
    wipe()
    call_command("import_mtme", tmp_path, name="harbour2026-en-de")
    again = {
        name.replace("harbour2026-en-de/", "harbour2026/"): text
        for campaign in Campaign.objects.order_by("slug")
        for name, text in exported(campaign).items()
    }
    assert again == before


def test_everything_of_a_folder_is_stored(db: None, tmp_path: Path, capsys: Any) -> None:
    call_command("import_mtme", written(tmp_path))
    test_set = TestSet.objects.get(slug="set-en-de")
    assert (test_set.source_language, test_set.target_language) == ("en", "de")
    assert list(test_set.segments.values_list("key", "document", "domain")) == [
        ("1", "d1", "news"), ("2", "d1", "news"), ("3", "d2", "chat"),
    ]  # fmt: skip
    assert set(Reference.objects.values_list("name", "text")) == {
        ("A", "ein Haus"), ("A", "s"), ("A", "t"),
    }  # fmt: skip
    outputs = {
        system.name: dict(system.outputs.values_list("segment__key", "text"))
        for system in System.objects.all()
    }
    assert outputs == {
        "Z.1-x": {"1": "das Haus", "3": ""},
        "A": {"1": "Haus", "2": "w", "3": "x"},
        "refA": {"1": "ein Haus", "2": "s", "3": "t"},  # a reference that was scored
    }
    mqm = Campaign.objects.get(slug="set-en-de-mqm")
    assert (mqm.protocol, mqm.status, mqm.study) == ("mqm", "closed", "set")
    assert not mqm.published_scores.exists()
    found = Judgment.objects.order_by("pk").values_list(
        "assignment__annotator__label", "assignment__item__output__system__name", "penalty"
    )
    assert list(found) == [("r1", "Z.1-x", 6), ("r1", "refA", 0), ("r2", "refA", 1)]
    assert set(ErrorSpan.objects.values_list("start", "end", "severity")) == {
        (0, 3, "minor"), (4, 8, "major"), (0, 1, "minor"),
    }  # fmt: skip
    z = Campaign.objects.get(slug="set-en-de-wmt-z")
    assert list(z.published_scores.values_list("system__name", "value")) == [("A", 0.5)]
    assert "1 metric, 1" in capsys.readouterr().out
    (measure,) = system_scores(test_set).measures.values()
    assert measure.label == "m-refA (imported)"
    # `Z.1-x` has no second output, so its score is skipped.
    scores = sorted(measure.values[~np.isnan(measure.values)].tolist())
    assert scores == [0.1, 1.0, 2.0, 3.0, 5.0]


def test_the_same_again_changes_nothing(db: None, tmp_path: Path, capsys: Any) -> None:
    folder = written(tmp_path)
    call_command("import_mtme", folder)
    rows = (Campaign, Judgment, ErrorSpan, PublishedScore, ConfiguredMetric, Annotator)
    before = [row.objects.count() for row in rows]
    capsys.readouterr()
    call_command("import_mtme", folder)
    assert [row.objects.count() for row in rows] == before
    assert capsys.readouterr().out.count("unchanged, it was stored already") == 2


def test_a_dry_run_stores_nothing(db: None, tmp_path: Path, capsys: Any) -> None:
    call_command("import_mtme", written(tmp_path), dry_run=True)
    output = capsys.readouterr().out
    assert "set-en-de: 3 segments, 3 systems, 2 human scores, 1 metric." in output
    assert not TestSet.objects.exists()


def test_every_wrong_file_is_named_with_its_line_and_nothing_is_stored(
    db: None, tmp_path: Path, capsys: Any
) -> None:
    folder = written(tmp_path)
    wrong = {
        "human-scores/en-de.mqm.seg.score": ("A\tx\n", "row 1: Field SCORE"),
        "human-scores/en-de.wmt-z.sys.score": ("B\t1\n", "B"),
        "human-scores/en-de.mqm.merged.seg.rating": (
            f"A\tNone\nA\t{rating((3, 1, 'minor'))}\n", "row 2",
        ),
        "metric-scores/en-de/m-refA.seg.score": ("A\t1\nA\tgood\n", "row 2: Field SCORE"),
        "system-outputs/en-de/A.txt": ("v\n", "3 segments"),
        "documents/en-de.docs": ("n d\nn e\nn d\n", "row 3: Document d"),
    }  # fmt: skip
    for name, (text, _) in wrong.items():
        (folder / name).write_text(text)
    with refused("command.nothing-stored", kind=CommandError, names=["en-de"]):
        call_command("import_mtme", folder)
    output = capsys.readouterr().err.splitlines()
    for name, (_, value) in wrong.items():
        [line] = [line for line in output if line.startswith(f"error: {name}")]
        assert value in line
    assert not TestSet.objects.exists()


def test_folders_may_be_missing(db: None, tmp_path: Path) -> None:
    """Scores alone: the systems are those that were scored, and their outputs are empty."""
    folder = written(tmp_path, small(ratings={}))
    for part in ("sources", "documents", "references", "system-outputs"):
        for path in sorted((folder / part).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    call_command("import_mtme", folder)
    test_set = TestSet.objects.get()
    assert set(test_set.segments.values_list("source", flat=True)) == {NO_SOURCE}
    assert set(test_set.systems.values_list("name", flat=True)) == {"Z.1-x", "A", "refA"}
    published = PublishedScore.objects.filter(campaign__slug="set-en-de-mqm")
    assert {each.value for each in published} == {-6.0, 0.0, -1.0}


def test_pairs_are_chosen_or_all_taken(db: None, tmp_path: Path) -> None:
    folder = written(tmp_path)
    write_evalset(small(language_pair="en-pt_BR"), folder)
    with refused("mtme.choose-pair", kind=CommandError):
        call_command("import_mtme", folder)
    with refused("mtme.unknown-pair", kind=CommandError):
        call_command("import_mtme", folder, language_pair="en-fr")
    call_command("import_mtme", folder, all=True)
    assert set(TestSet.objects.values_list("slug", "target_language")) == {
        ("set-en-de", "de"), ("set-en-pt_BR", "pt-BR"),
    }  # fmt: skip


def test_human_scores_and_metrics_are_chosen_by_name(db: None, tmp_path: Path, capsys: Any) -> None:
    folder = written(tmp_path)
    with refused("command.nothing-stored", kind=CommandError):
        call_command("import_mtme", folder, human=["esa"], metrics=["COMET"])
    output = capsys.readouterr().err
    assert "esa" in output
    assert "mqm, mqm.merged and wmt-z" in output
    assert "COMET" in output
    call_command("import_mtme", folder, human=["mqm"], metrics=[])
    assert [campaign.slug for campaign in Campaign.objects.all()] == ["set-en-de-mqm"]
    assert not ConfiguredMetric.objects.exists()


def test_metrics_of_errors_can_be_stated_to_be_lower(db: None, tmp_path: Path) -> None:
    call_command("import_mtme", written(tmp_path), lower_is_better=["m-refA"])
    assert not ConfiguredMetric.objects.get().info.higher_is_better
