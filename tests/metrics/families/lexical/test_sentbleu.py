"""sentBLEU as WMT computes it: the literal check, and the values that came with newstest2017."""

import csv
from pathlib import Path

import numpy as np
import pytest

from metrics import registry
from metrics.base import SegmentInput
from tests.extensions.neural.reference_free import make, read_check


def test_literal_values(data_dir: Path) -> None:
    check = read_check(data_dir, "A8")
    inputs = [SegmentInput("", output, (text,)) for output, text in check["inputs"]["pairs"]]
    values = make("sentbleu-wmt", tokenizer="whitespace").score(inputs)[:, 0]
    np.testing.assert_allclose(values, check["expected"], atol=check["tolerance"])


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("pair", ["zh-en", "de-en"])
def test_published_values_of_newstest(data_dir: Path, pair: str) -> None:
    """The specification counts 99.5 to 100% of such values as equal to 1e-5."""
    folder = data_dir / "wmt17" / pair
    references = {row["sid"]: row["reference"] for row in read(folder / "segments.tsv")}
    outputs = {(row["sid"], row["system"]): row["output"] for row in read(folder / "outputs.tsv")}
    rows = read(folder / "seg-human.tsv")
    inputs = [
        SegmentInput("", outputs[row["sid"], row["system"]], (references[row["sid"]],))
        for row in rows
    ]
    values = make("sentbleu-wmt", tokenizer="whitespace").score(inputs)[:, 0]
    published = np.array([float(row["repo_sentbleu"]) for row in rows])
    assert (np.abs(values - published) < 1e-5).mean() >= 0.995


def test_empty_and_short_texts() -> None:
    metric = registry.load("sentbleu-wmt", source_language="zh", target_language="en")
    texts = ["", " ", "?!", "a"]
    values = metric.score([SegmentInput("", text, ("the harbour was quiet",)) for text in texts])
    assert (values[:2] == 0).all()
    # Two words, none of them right, of four: (1/3 · 1/2 · 1 · 1)^¼ · exp(1 - 4/2).
    assert values[2] == pytest.approx((1 / 6) ** 0.25 * np.exp(-1))
    assert metric.score([SegmentInput("", "a", ("",))])[0, 0] == pytest.approx(0.5**0.25)


def test_case_and_tokens_are_chosen_and_signed() -> None:
    one = [SegmentInput("", "The HARBOUR, quiet", ("the harbour , quiet",))]
    plain, lower, cut = (
        make("sentbleu-wmt", **options)
        for options in (
            {"tokenizer": "whitespace"},
            {"tokenizer": "whitespace", "lowercase": "yes"},
            {"lowercase": "yes"},
        )
    )
    assert plain.score(one)[0, 0] < lower.score(one)[0, 0] < cut.score(one)[0, 0]
    assert cut.score(one)[0, 0] == pytest.approx(1)
    assert len({metric.signature() for metric in (plain, lower, cut)}) == 3
