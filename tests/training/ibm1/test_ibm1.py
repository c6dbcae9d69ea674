"""IBM model 1 against nltk's numbers and plain loops; the job, its metric, and refusals."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from metrics.base import MetricError, SegmentInput
from metrics.options import OptionError
from tests.training.doing import refused
from training.contract import Corpus, Work
from training.ibm1 import job
from training.ibm1.learning import learn, units_of
from training.ibm1.options import BLANKS, CHARACTERS, IBM1, OPTIONS, WORDS, About, describe, load
from training.ibm1.scoring import Ibm1

PAIRS = [
    ("das Haus ist klein", "the house is small"),
    ("das Haus", "the house"),
    ("das Buch ist ja klein", "the book is small"),
    ("ein Buch", "a book"),
    ("das das Buch", "the book"),
    ("ein Haus", "a house"),
]
# IBMModel1 of nltk 3.9.2 on PAIRS: iterations -> (target, source) -> t; "" is the empty word.
NLTK = {
    1: {
        ("the", ""): 0.239495798319, ("the", "das"): 0.382978723404, ("house", ""): 0.218487394958,
        ("house", "das"): 0.170212765957, ("house", "Haus"): 0.40625, ("a", "ein"): 0.5,
        ("book", "Buch"): 0.409090909091, ("book", "das"): 0.212765957447,
    },
    5: {
        ("the", ""): 0.388295381891, ("the", "das"): 0.8323728739, ("the", "Haus"): 0.067950650109,
        ("house", ""): 0.298453475751, ("house", "Haus"): 0.913491197649,
        ("a", "ein"): 0.957637290317, ("book", "Buch"): 0.94967938019,
        ("a", "Haus"): 0.007515727157,
    },
}  # fmt: skip


def about(**changes: object) -> About:
    given = {
        "units": WORDS, "n": 1, "lower": False, "iterations": 5, "pairs": len(PAIRS),
        "source_language": "de", "target_language": "en", "fitted_on": "six pairs",
    }  # fmt: skip
    return About(**given | changes)


def probabilities(iterations: int, pairs=PAIRS) -> dict[tuple[str, str], float]:
    found = learn(pairs, about(iterations=iterations))
    return {
        (found.targets[column], found.sources[row]): value
        for row, column, value in zip(found.rows, found.columns, found.values, strict=True)
    }


@pytest.mark.parametrize("iterations", NLTK)
def test_probabilities_are_those_of_nltk(iterations: int) -> None:
    found = probabilities(iterations)
    assert {key: found[key] for key in NLTK[iterations]} == pytest.approx(
        NLTK[iterations], abs=1e-11
    )
    sums: dict[str, float] = defaultdict(float)
    for (_, source), value in found.items():
        sums[source] += value
    assert list(sums.values()) == pytest.approx([1.0] * len(sums))


def test_repeated_units_count_as_often_as_they_occur() -> None:
    """nltk counts repeated target words once in the sum of probabilities; Brown et al. do not."""
    pairs = [*PAIRS, ("das das Haus", "the the the house")]
    words = {each for _, target in pairs for each in target.split()}
    t: dict[tuple[str, str], float] = defaultdict(lambda: 1 / len(words))
    for _ in range(3):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        for source, target in pairs:
            for y in target.split():
                total = sum(t[y, x] for x in ["", *source.split()])
                for x in ["", *source.split()]:
                    counts[y, x] += t[y, x] / total
        sums: dict[str, float] = defaultdict(float)
        for (_, x), each in counts.items():
            sums[x] += each
        t = defaultdict(float, {(y, x): each / sums[x] for (y, x), each in counts.items()})
    assert probabilities(3, pairs) == pytest.approx(dict(t))


def test_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = probabilities(5)
    monkeypatch.setattr("training.ibm1.learning.SLICE", 2)
    assert probabilities(5) == pytest.approx(whole)


@pytest.mark.parametrize(
    ("units", "n", "language", "found"),
    [
        (WORDS, 1, "en", ["it", "'", "s", "so", "."]),
        (WORDS, 1, "zh", ["i", "t", "'", "s", "s", "o", "."]),
        (CHARACTERS, 2, "en", ["i t", "t '", "' s", "s s", "s o", "o ."]),
        (BLANKS, 1, "zh", ["it's", "so."]),
        (BLANKS, 4, "en", ["it's so."]),
    ],
)
def test_units(units: str, n: int, language: str, found: list[str]) -> None:
    assert units_of("It's so.", about(units=units, n=n, lower=True), language) == found
    assert units_of(" ", about(units=units, n=n), language) == []


@pytest.fixture
def scorer(tmp_path: Path) -> Ibm1:
    learn(PAIRS, about()).save(tmp_path / "ibm1.npz")
    return Ibm1(described(tmp_path / "ibm1.npz"), source_language="de", target_language="en-US")


def described(path: Path):
    return describe("ibm1", "IBM1", {"table": str(path)})


def plainly(source: str, output: str) -> float:
    """The likelihood by loops over the table."""
    t = probabilities(5)
    words = ["", *source.split()]
    sums = [sum(t.get((y, x), 0.0) for x in words) / len(words) for y in output.split()]
    return sum(math.log(max(each, 1e-12)) for each in sums) / len(sums)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("das Haus", "the house"),
        ("das Haus", "the the book of"),
        ("ein neues Buch", "a book"),
        ("Zug", "train"),
    ],
)
def test_scores_are_mean_log_probabilities(scorer: Ibm1, source: str, output: str) -> None:
    assert scorer.score([SegmentInput(source, output, ())]) == pytest.approx(
        np.array([[plainly(source, output)]])
    )


def test_empty_texts_have_scores_and_better_outputs_higher_ones(scorer: Ibm1) -> None:
    texts = [("das Haus", "the house"), ("das Haus", "a book"), ("das Haus", ""), ("", "the")]
    found = scorer.score([SegmentInput(*each, ()) for each in texts])[:, 0]
    assert np.isfinite(found).all()
    assert found[0] > found[1] > found[2] == pytest.approx(math.log(1e-12))
    assert scorer.score([]).shape == (0, 1)


def test_other_languages_and_files_are_refused(scorer: Ibm1, tmp_path: Path) -> None:
    path = tmp_path / "ibm1.npz"
    with pytest.raises(MetricError) as caught:
        Ibm1(described(path), source_language="zh", target_language="en")
    assert (caught.value.message.code, caught.value.permanent) == ("ibm1.other-languages", True)
    for content in (b"", b"no table", path.read_bytes()[:100]):
        other = tmp_path / "other.npz"
        other.write_bytes(content)
        with pytest.raises(OptionError) as wrong:
            load(str(other))
        assert wrong.value.problem.code == "ibm1.not-a-table"


def corpus(pairs: list[tuple[str, str]], source: str = "de") -> Corpus:
    return Corpus("six", source, "en", pairs, "0" * 64)


def options(**changes: object) -> dict[str, object]:
    return {each.name: each.default for each in OPTIONS} | changes


def test_a_job_makes_a_metric(tmp_path: Path) -> None:
    steps: list[int] = []
    outcome = job.run(Work(
        options(iterations=3, lower=False), tmp_path, [corpus(PAIRS * 2)],
        lambda progress: steps.append(progress["step"]),
    ))  # fmt: skip
    assert steps == [0, 1, 2]
    assert outcome.result["pairs"] == {"in_the_corpus": 12, "fitted_to": 11, "held_out": 1}
    assert outcome.result["known_units"] == 1.0
    assert outcome.metric.family == IBM1.key
    info = IBM1.describe("ibm1", outcome.metric.label, outcome.metric.options)
    scorer = Ibm1(info, source_language="de", target_language="en")
    assert scorer.score([SegmentInput("das Haus", "the house", ())])[0, 0] > math.log(0.2)
    assert "units:words|n:1|table:" in scorer.signature()


def test_text_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with refused("ibm1.several-languages"):
        job.run(Work(options(), tmp_path, [corpus(PAIRS), corpus(PAIRS, "fr")]))
    with refused("ibm1.no-pairs"):
        job.run(Work(options(), tmp_path, [corpus([("", "a"), (" ", "b")])]))
