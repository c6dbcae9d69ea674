"""Challenge sets: published ACES scores, layouts, intervals, and error-free outputs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from metaeval.challenges import ACES_WEIGHTS, aces_score, detection, read_challenge_set, span_f1
from metaeval.challenges.sets import category_of
from metaeval.commands import main
from metaeval.correlation.intervals import wilson_interval
from metaeval.files import FormatError
from metaeval.spans.error_free import error_free_detection, mcc_interval
from tests.refusals import refused

# Amrhein, Moghe and Guillou (2022): the categories in the order of ACES_WEIGHTS, and the score, as
# the repository of ACES lists them.
PUBLISHED = {
    "COMETKiwi": (.361, .830, .631, .230, .780, .738, .574, .582, -.359, .490, 16.95),
    "Cross-QE": (.163, .876, .546, -.094, .320, .726, .506, .446, -.374, .455, 14.43),
    "KG-BERTScore": (.790, .812, .489, -.456, .760, .654, .528, .487, .306, .255, 17.49),
    "UniTE-src": (.285, .930, .599, -.615, .860, .698, .540, .537, -.417, .733, 15.70),
}  # fmt: skip


def phi(gold: np.ndarray, predicted: np.ndarray) -> float:
    """Return Matthews' correlation as Pearson's r of zeros and ones."""
    return float(np.corrcoef(gold, predicted)[0, 1])


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_aces_scores(name: str) -> None:
    *taus, expected = PUBLISHED[name]
    some = detection([1.0, 2.0], [0.0, 3.0])
    found = aces_score(
        {c: (c, replace(some, tau=tau)) for c, tau in zip(ACES_WEIGHTS, taus, strict=True)}
    )
    # The taus have three decimals, five of them with weight 5.
    assert found.score == pytest.approx(expected, abs=0.0005 * sum(ACES_WEIGHTS.values()))


def test_a_category_is_the_mean_of_its_phenomena_whatever_their_size() -> None:
    perfect, mixed = detection([1.0] * 40, [0.0] * 40), detection([1.0, 0.0], [0.0, 1.0])
    every = {name: (name, perfect) for name in ACES_WEIGHTS}
    found = aces_score(every | {"more": ("addition", mixed)})
    assert found.categories["addition"] == pytest.approx((1.0 + 0.0) / 2)
    assert found.score == pytest.approx(sum(ACES_WEIGHTS.values()) - 5 / 2)
    variances = np.array([w**2 for w in ACES_WEIGHTS.values()]) * perfect.variance
    variances[0] = 25 * (perfect.variance + mixed.variance) / 4
    half = (found.interval.high - found.interval.low) / 2
    assert half == pytest.approx(1.959964 * np.sqrt(variances.sum()), rel=1e-6)


def test_pairs_that_all_agree_leave_the_score_uncertain() -> None:
    widths = []
    for n in (1, 10, 1000):
        same = detection([1.0] * n, [0.0] * n)
        found = aces_score({name: (name, same) for name in ACES_WEIGHTS})
        widths.append(found.interval.high - found.interval.low)
    assert widths[0] > widths[1] > widths[2] > 0.0
    # With many pairs of both kinds the variance is that of a share.
    mixed = detection([1.0] * 1000, np.repeat([0.0, 2.0], [800, 200]))
    assert mixed.variance == pytest.approx(4 * 0.8 * 0.2 / 1000, rel=0.01)


def test_categories_of_phenomena() -> None:
    assert category_of("xnli-addition-neutral") == "mistranslation"
    assert category_of("ambiguous-translation-wrong-sense-frequent") == "mistranslation"
    assert category_of("commonsense-src-and-ref-ambiguous") == "real-world knowledge"
    assert category_of("similar-language-low") == "wrong language"
    assert category_of("copy-source") == category_of("untranslated-vs-synonym") == "untranslated"
    assert {category_of(name.replace(" ", "-")) for name in
            ("addition", "omission", "do not translate", "hyponym-replacement",
             "hypernym-replacement", "punctuation:deletion_all")} == {
        "addition", "omission", "do not translate", "overtranslation", "undertranslation",
        "punctuation",
    }  # fmt: skip


def test_ties_are_wrong_and_the_interval_is_wilsons() -> None:
    found = detection([1, 2, 3, 4, 5, np.nan], [0, 1, 3, 5, 1, 1])
    assert (found.n, found.n_excluded) == (5, 1)
    concordant, discordant = 3, 2
    assert found.tau == pytest.approx((concordant - discordant) / 5)
    assert found.ties == pytest.approx(0.2)
    low, high = wilson_interval(0.6, 5)
    assert found.tau_interval[:2] == pytest.approx((2 * low - 1, 2 * high - 1))


def test_pairs_of_one_source_make_the_interval_wider() -> None:
    hits = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0], 10)
    sources = np.repeat([f"s{k}" for k in range(8)], 10).tolist()
    alone, clustered = (
        detection(hits, np.full(80, 0.5)),
        detection(hits, np.full(80, 0.5), sources=sources),
    )
    assert alone.accuracy == clustered.accuracy == 0.75
    assert clustered.accuracy_interval.low < alone.accuracy_interval.low - 0.1


def write_aces(folder: Path) -> Path:
    path = folder / "aces.tsv"
    columns = ["source", "good-translation", "incorrect-translation", "reference", "phenomena",
               "langpair", "BLEU-good", "BLEU-bad"]  # fmt: skip
    rows = [
        ["a", "g", "i", "r", "addition", "en-de", "2", "1"],
        ["b", "g", "i", "r", "addition", "en-de", "1", "1"],
        ["c", "g", "i", "r", "punctuation:deletion_commas", "en-de", "0.5", "0.7"],
    ]
    path.write_text("\n".join("\t".join(row) for row in [columns, *rows]) + "\n")
    return path


def test_aces_from_the_file_to_the_table(tmp_path: Path, capsys) -> None:
    assert main(["challenge", str(write_aces(tmp_path)), "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    taus = {(row["group"], row["name"]): row["tau"] for row in document["rows"]}
    assert taus["phenomenon", "addition"] == 0.0
    assert taus["category", "punctuation"] == -1.0
    assert taus["all", "all"] == pytest.approx(-1 / 3)
    # Categories are missing.
    assert document["aces_scores"][0]["score"] is None


@pytest.mark.parametrize("name", ["source", "src_sent"])
def test_pairs_of_a_file_are_clustered_by_their_source(name: str, tmp_path: Path, capsys) -> None:
    rows = [
        {"phenomena": "addition", name: f"s{k % 8}", "m-good": int(k % 8 < 5), "m-bad": 0}
        for k in range(80)
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps(rows))
    expected = detection(
        [row["m-good"] for row in rows], np.zeros(80), sources=[row[name] for row in rows]
    )
    assert main(["challenge", str(path), "--output", "json"]) == 0
    for row in json.loads(capsys.readouterr().out)["rows"]:
        assert row["tau low"] == pytest.approx(expected.tau_interval.low)
        assert row["tau low"] < 2 * wilson_interval(5 / 8, 80)[0] - 1


def test_demetr_skips_what_was_not_changed(tmp_path: Path, capsys) -> None:
    base = {"severity": "minor", "pert_name": "minor_id15_case", "src_sent": "s", "id": 1}
    rows = [
        base | {"pert_check": True, "m-good": 2.0, "m-bad": 1.0},
        base | {"pert_check": False, "m-good": 1.0, "m-bad": 1.0},
        base | {"pert_check": True, "m-good": 0.0, "m-bad": 1.0, "src_sent": "t"},
    ]
    # As in the released files: a row that was not marked, and the reference in place of the text.
    equal = {"mt_sent": "same", "pert_sent": "same", "eng_sent": "other"}
    reference = {"mt_sent": "text", "pert_sent": "other", "eng_sent": "other"}
    scores = {"pert_check": True, "m-good": 1.0, "m-bad": 1.0}
    rows += [base | scores | equal, base | scores | reference, base | scores | reference]
    (tmp_path / "minor_id15_case.json").write_text(json.dumps(rows))
    found = read_challenge_set(tmp_path)
    assert (found.layout, len(found.phenomena)) == ("DEMETR", 2)
    assert (found.n_unchanged, found.n_references) == (2, 2)
    assert set(found.categories) == {"minor"}
    assert detection(found.good["m"], found.bad["m"]).accuracy == 0.5
    assert main(["challenge", str(tmp_path)]) == 0
    capsys.readouterr()


def test_spans_of_span_aces(tmp_path: Path) -> None:
    row = {
        "phenomena": "addition", "source": "s", "m-good": 1, "m-bad": 0,
        "good-translation-prediction": "fine",
        "incorrect-translation-prediction": "a <v>bad</v> <v>word</v>",
        "incorrect-translation-annotated": "a <v>bad</v> word",
    }  # fmt: skip
    path = tmp_path / "span.jsonl"
    path.write_text("\n".join([json.dumps(row), json.dumps(row | {"source": "t"})]))
    found = read_challenge_set(path)
    # One of two predicted spans is right, and it is the only one: P 1/2, R 1.
    assert span_f1(found.spans, found.sources)[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("text", "code"), [
    ("phenomena\tm-good\tm-bad\naddition\tx\t1\n", "challenge.score"),
    ("phenomena\tm-good\tm-bad\n\t1\t1\n", "field.empty"),
    ("phenomena\tm-good\naddition\t1\n", "challenge.no-scores"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "set.tsv"
    path.write_text(text)
    with refused(code, kind=FormatError):
        read_challenge_set(path)


def test_the_interval_of_mcc_is_a_jackknife_over_documents(tmp_path: Path, capsys) -> None:
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 120)
    predicted = np.where(rng.random(120) < 0.7, gold, 1 - gold)
    documents = np.repeat([f"d{k}" for k in range(12)], 10)
    value = phi(gold, predicted)
    assert error_free_detection(gold, predicted).mcc == pytest.approx(value)
    without = np.array([
        phi(gold[documents != d], predicted[documents != d])
        for d in np.unique(documents)
    ])  # fmt: skip
    error = np.sqrt(11 / 12 * ((without - without.mean()) ** 2).sum())
    found = mcc_interval(gold, predicted, documents=documents.tolist())
    assert (found.high - found.low) / 2 == pytest.approx(2.2009851600829 * error)  # t of 11
    assert (found.high + found.low) / 2 == pytest.approx(value)
    assert np.isnan(mcc_interval(gold, gold, documents=documents.tolist())[:2]).all()
    one_large = np.where(np.arange(120) < 60, "d0", documents).tolist()
    wide = mcc_interval(gold, predicted, documents=one_large)
    # t of 3 effective documents less one, of 7.
    without = np.array([
        phi(gold[kept], predicted[kept])
        for kept in (np.array(one_large) != d for d in np.unique(one_large))
    ])  # fmt: skip
    error = np.sqrt(6 / 7 * ((without - without.mean()) ** 2).sum())
    size = 120**2 / (60**2 + 6 * 10**2)
    assert value - wide.low == pytest.approx(student.ppf(0.975, size - 1) * error)
    path = tmp_path / "outputs.tsv"
    lines = ["document\tgold\tours"] + [
        f"{d}\t{g}\t{p}" for d, g, p in zip(documents, gold, predicted, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    words = ["error-free", str(path), "--gold", "gold", "--predicted", "ours", "--output", "json"]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)["detectors"][0]
    assert printed["low"] == pytest.approx(found.low)
