"""The long trainings, at toy size on the processor: interrupted, continued and reported."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.gpu import small
from benchmarks.training import encoders, long

WORDS = (
    "der", "Hafen", "war", "heute", "still", "und", "alle", "alten", "Schiffe", "kamen", "früh"
)  # fmt: skip
ENGLISH = (
    "the", "harbour", "was", "quiet", "today", "and", "all", "old", "ships", "came", "early"
)  # fmt: skip
N_PAIRS, N_RATED = 80, 12


def lines(*columns: str, rows: list[tuple[object, ...]]) -> str:
    return "\n".join("\t".join(map(str, row)) for row in [columns, *rows]) + "\n"


def pairs() -> list[tuple[str, str]]:
    turns = [(n % 11, 3 + n % 7) for n in range(N_PAIRS)]
    return [
        (" ".join((WORDS * 2)[a : a + k]) + f" {a}.", " ".join((ENGLISH * 2)[a : a + k]) + f" {k}.")
        for a, k in turns
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Parallel text and rated segments in the layout of the shared data."""
    given = pairs()
    parallel, rated = tmp_path / "data/parallel", tmp_path / "data/wmt17/de-en"
    parallel.mkdir(parents=True)
    rated.mkdir(parents=True)
    for name in ("de-en.wmt17-unscored", "zh-en.wmt17-unscored", "en-de.mlqe-pe"):
        sides = [(b, a) if name.startswith("en") else (a, b) for a, b in given]
        text = lines("sid", "source", "target", rows=[(n, *each) for n, each in enumerate(sides)])
        (parallel / f"{name}.tsv").write_text(text)
    shown = given[:N_RATED]
    texts = {
        "segments": lines(
            "sid", "source", "reference", rows=[(n, a, b) for n, (a, b) in enumerate(shown)]
        ),
        "outputs": lines(
            "sid", "system", "output", rows=[(n, "mt", b) for n, (_, b) in enumerate(shown)]
        ),
        "seg-human": lines(
            "sid", "system", "human_z", rows=[(n, "mt", (n * 7 % 5) / 5) for n in range(N_RATED)]
        ),
    }
    for name, text in texts.items():
        (rated / f"{name}.tsv").write_text(text)
    return tmp_path / "data"


def test_both_trainings_are_continued_and_reported(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [text for pair in pairs() for text in pair]
    encoder = small.xlm_roberta(tmp_path / "xlmr", texts, layers=6, pieces=120)
    for module in (encoders, long):
        monkeypatch.setattr(module, "DATA", data)
    few = {"steps": 6, "evaluate_every": 2, "warmup": 1}
    monkeypatch.setitem(long.ENCODERS, "toy", long.ENCODERS["toy"] | few | {"sample": 40})
    sizes = {"width": 16, "inner": 16, "vocabulary": 120, "held_out": 4, "longest": 16}
    monkeypatch.setitem(long.MODELS, "toy", long.MODELS["toy"] | few | sizes)
    output = tmp_path / "out"
    monkeypatch.setattr(
        sys, "argv",
        ["long", "--output", str(output), "--scale", "toy", "--encoder", str(encoder),
         "--price", "4", "--interrupt"],
    )  # fmt: skip
    long.main()
    assert capsys.readouterr().out.count("and continued") == 2
    report = json.loads((output / "report.json").read_text())
    assert set(report) == {"refreeeval", "translation"}
    for found in report.values():
        assert found["updates"] == few["steps"]
        assert found["curve"]
        assert found["hours"] > 0
        assert found["cost"] == pytest.approx(4 * found["hours"])
        assert found["updates_per_hour"] == pytest.approx(found["updates"] / found["hours"])
    agreement = report["refreeeval"]["wmt17_de_en"]
    assert {each["n"] for each in agreement.values()} == {N_RATED}
    assert all(each["low"] <= each["r"] <= each["high"] for each in agreement.values())
