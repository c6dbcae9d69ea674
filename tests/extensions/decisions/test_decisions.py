"""Score differences, difficulty and ensembles: the pages' numbers are those of the commands."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from django.core.management import call_command
from django.http import QueryDict
from django.test import Client

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle import build
from dashboards.comparisons import document as significance
from dashboards.documents.computing import as_stored
from extensions.decisions import differences, difficulty, ensemble
from extensions.decisions.ensemble import EnsembleChoice
from metaeval.commands import main
from metaeval.files import EvalSet, EvalSetScores, write_evalset
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import make_user

NEEDS = {"extensions.decisions"}
RNG = np.random.default_rng(11)
SYSTEMS = ("A", "B", "C", "D", "E", "F", "G", "refB")
N = 120
NAMES = [f"d{n // 4}" for n in range(N)]
QUALITY = {name: 0.25 * place for place, name in enumerate(SYSTEMS)}
HARD = RNG.normal(size=N)
HUMAN = {name: QUALITY[name] - HARD + RNG.normal(size=N) for name in SYSTEMS}
NOISE = {"fair": 1.0, "poor": 3.0, "ease": 0.5}
SCORES = {
    metric: {
        name: (-HARD if metric == "ease" else own) + RNG.normal(scale=noise, size=N)
        for name, own in HUMAN.items()
    }
    for metric, noise in NOISE.items()
}
KEYS = {"fair": "imported-fair-src", "poor": "imported-poor-src", "ease": "imported-ease-src"}
LOWER = "imported-errors-lower"


@pytest.fixture(scope="module")
def made(shared_rows: SharedRows[int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with shared_rows(lambda: make(tmp_path_factory.mktemp("set"))) as made:
        yield made


@pytest.fixture
def campaign(made: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=made)


def make(tmp_path: Path) -> int:
    """Seven systems, a judged reference, three metrics, and one for which lower is better."""
    evalset = EvalSet(
        name="set",
        language_pair="en-de",
        sources=tuple(f"{'s' * (1 + n % 9)}{n}" for n in range(N)),
        documents=tuple(("news", name) for name in NAMES),
        references={"refB": tuple(f"refB{n}" for n in range(N))},
        outputs={name: tuple(f"{name}{n}" for n in range(N)) for name in SYSTEMS},
        human_scores={("h", "seg"): EvalSetScores(HUMAN)},
        metric_scores={(f"{name}-src", "seg"): EvalSetScores(own) for name, own in SCORES.items()},
    )
    write_evalset(evalset, tmp_path / "set")
    call_command("import_mtme", tmp_path / "set", stdout=StringIO(), stderr=StringIO(),
                 higher_is_better=[*(f"{name}-src" for name in SCORES), "h"])  # fmt: skip
    found = Campaign.objects.get()
    path = tmp_path / "errors.tsv"
    lines = [
        f"{n + 1}\t{name}\t{-own[n] + 0.3 * n % 7}" for name, own in HUMAN.items() for n in range(N)
    ]
    path.write_text("\n".join(["segment\tsystem\terrors", *lines]), encoding="utf-8")
    call_command("import_scores", found.test_set.slug, path, lower_is_better=["errors"],
                 stdout=StringIO())  # fmt: skip
    return found.pk


def of_command(campaign: Campaign, capsys: pytest.CaptureFixture[str], folder: Path,
               command: str, *options: str) -> Any:  # fmt: skip
    """Run a command on the scores of the campaign's bundle."""
    archive = folder / "bundle.zip"
    archive.write_bytes(build(campaign, Filters()).zip)
    with ZipFile(archive) as content:
        (name,) = (each for each in content.namelist() if each.endswith("/scores.tsv"))
        (folder / "scores.tsv").write_bytes(content.read(name))
    named = [key for key in KEYS.values() if "--metric" not in options or key in options]
    higher = [part for key in named for part in ("--higher", key)]
    capsys.readouterr()
    assert not main([command, str(folder / "scores.tsv"), "--human", "human", *higher,
                     "--higher", "human", "--lower", LOWER, "--output", "json",
                     *options])  # fmt: skip
    return json.loads(capsys.readouterr().out)


def test_differences(
    campaign: Campaign, capsys: pytest.CaptureFixture[str], tmp_path: Path, client: Client
) -> None:
    found = as_stored(differences.compute(campaign, Filters()))
    rows = {row.key: row for row in found.rows}
    for theirs in of_command(campaign, capsys, tmp_path, "agreement")["metrics"]:
        ours = rows[theirs["metric"]]
        assert (ours.n, ours.agreeing, ours.n_systems) == (
            theirs["n"], theirs["agreeing"], theirs["n_systems"],
        )  # fmt: skip
        assert ours.n_systems == 7  # without the reference
        for each in ours.needed:
            title = f"difference for {each.share:.0%}"
            expected = (theirs[title], theirs[f"{title} low"], theirs[f"{title} high"])
            assert (each.value, each.low, each.high) == pytest.approx(expected)
    client.force_login(make_user("reader", "researcher"))
    answer = client.get(f"/campaigns/{campaign.slug}/differences.json?difference=0.5").json()
    looked_up = {row["key"]: row for row in answer["rows"]}
    theirs = of_command(campaign, capsys, tmp_path, "agreement", "--difference", "0.5")
    for each in theirs["metrics"]:
        ours = looked_up[each["metric"]]
        assert ours["probability"] == pytest.approx(each["probability"])
        assert ours["probability_low"] == pytest.approx(each["low"])
        assert ours["probability_high"] == pytest.approx(each["high"])


def test_difficulty(campaign: Campaign, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    by = KEYS["ease"]
    chosen = difficulty.DifficultyChoice(by=by)
    found = as_stored(difficulty.compute(campaign, chosen, "pearson"))
    theirs = of_command(campaign, capsys, tmp_path, "difficulty", "--by", by,
                        "--correlation", "pearson")["rows"]  # fmt: skip
    ours = {(row.number, row.metric): row for row in found.rows}
    assert len(theirs) == len(ours) == 5 * 3
    for each in theirs:
        row = ours[each["bin"], each["metric"]]
        assert [
            row.low, row.high, row.n_segments, row.human, row.human_low, row.human_high,
            row.value, row.value_low, row.value_high,
        ] == pytest.approx([each[name] for name in (
            "from", "to", "n_segments", "human", "human low", "human high", "value", "low", "high",
        )])  # fmt: skip
    out = StringIO()
    call_command("hardest", campaign.test_set.slug, metric=by, size=400, stdout=out)
    # The command also takes the mean over the reference.
    means = np.mean([SCORES["ease"][name] for name in SYSTEMS if name != "refB"], axis=0)
    assert [each.ease for each in found.hardest] == pytest.approx(np.sort(means)[:10])
    assert len(out.getvalue().split()) == N
    by_length = as_stored(difficulty.compute(campaign, difficulty.DifficultyChoice()))
    assert by_length.by.key == difficulty.BY_LENGTH
    lengths = [len(each.source) for each in by_length.hardest]
    assert lengths == sorted(lengths, reverse=True)
    assert {metric.key for metric in by_length.metrics} == {*KEYS.values(), LOWER}


def test_ensemble(campaign: Campaign, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    keys = [KEYS["fair"], LOWER]
    found = as_stored(ensemble.compute(campaign, EnsembleChoice(metric=" ".join(keys)), "pearson"))
    theirs = of_command(campaign, capsys, tmp_path, "ensemble", "--correlation", "pearson",
                        *(part for key in keys for part in ("--metric", key)))  # fmt: skip
    for ours, each in zip(found.rows, theirs["rows"], strict=True):
        assert [ours.held_out, ours.low, ours.high, ours.in_sample] == pytest.approx(
            [each[name] for name in ("held out", "low", "high", "in sample")]
        )
    assert {each.metric: each.mean for each in found.weights} == pytest.approx(theirs["weights"])
    alone = ensemble.compute(campaign, EnsembleChoice(metric=LOWER), "pearson")
    assert (alone.refused.code, alone.rows) == ("ensemble.few", ())
    assert {each.key for each in alone.all_metrics} == {*KEYS.values(), LOWER}
    query = QueryDict("&".join(f"metric={key}" for key in keys))
    assert EnsembleChoice.from_query(query).metric.split() == sorted(keys)


def test_differences_of_outputs_in_the_table(
    campaign: Campaign, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = as_stored(significance.compute(campaign, Filters(), "pdp"))
    ours = {metric.key: (metric.value, metric.low, metric.high) for metric in found.metrics}
    theirs = of_command(campaign, capsys, tmp_path, "pdp")
    for key, *numbers in zip(
        *(theirs[name] for name in ("metrics", "values", "lows", "highs")), strict=True
    ):
        assert ours[key] == pytest.approx(numbers)


def test_wrong_addresses(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    for page, query, code in (
        ("differences", "difference=much", "filter.number"),
        ("differences", "difference=-0.5", "differences.negative"),
        ("difficulty", "by=none", "choice.no-scores"),
        ("difficulty", "statistic=pa", "choice.not-one-of"),
        ("ensemble", "statistic=pa", "choice.not-one-of"),
        ("ensemble", "metric=none", "filter.no-scores"),
    ):
        answer = client.get(f"/campaigns/{campaign.slug}/{page}.json?{query}")
        assert answer.status_code == 400
        assert tells(answer.json()["error"], code)


def test_small_data_have_typed_warnings(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = difficulty.DifficultyChoice(documents=("d1", "d2"))
    found = difficulty.compute(campaign, few)
    assert "decisions.of-some" in {each.code for each in found.warnings}
    assert all(np.isnan(each.human_low) for each in found.bins)
    three = differences.compute(campaign, Filters(systems=("A", "B", "C")))
    assert [row.n_systems for row in three.rows] == [3] * len(three.rows)
    row = next(row for row in as_stored(three).rows if row.value is not None)
    assert [each.code for each in differences._answer(row)] == ["differences.no-interval"]
    monkeypatch.setattr(difficulty, "_ease", lambda *_: np.zeros(N))
    found = difficulty.compute(campaign, difficulty.DifficultyChoice())
    assert (found.warnings[-1].code, found.bins) == ("difficulty.one-value", [])
    one = EnsembleChoice(documents=("d1",))
    assert ensemble.compute(campaign, one).refused.code == "ensemble.one-document"
