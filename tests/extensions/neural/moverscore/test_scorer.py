"""MoverScore against the literal checks and a plain computation."""

import math
import string
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors
from extensions.neural.moverscore.scorer import MoverScore, power_means
from metrics import registry
from metrics.base import MetricError, MetricWarning, SegmentInput
from tests.extensions.neural.mover.published import CHECKS
from tests.refusals import refused

REFERENCES = ["The harbour was quiet all morning.", "Nobody saw the ships that left early."]
OUTPUTS = [
    "All morning the harbour has been quiet, they said.",
    "The ships left; nobody saw them.",
    "?!",
    "The harbour was quiet all morning.",
]
PAIRS = [SegmentInput("", output, (reference,)) for output in OUTPUTS for reference in REFERENCES]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder, texts = tmp_path_factory.mktemp("models"), [*REFERENCES, *OUTPUTS]
    return {
        "v1": str(small.bert(folder / "bert", texts, layers=6)),
        "v2": str(small.distilbert(folder / "distilbert", texts)),
    }


@pytest.fixture(autouse=True)
def _nothing_resident() -> None:
    token_vectors.forget()
    encoders.forget()


def make(folder: str, version: str, **given: Any) -> MoverScore:
    chosen = {"checkpoint": folder, "version": version, **given}
    info = registry.configure("moverscore", "small", "Small", chosen)
    return MoverScore(info, source_language="de", target_language="en")


def test_published_power_means() -> None:
    check = CHECKS["C9"]
    layers = torch.tensor(check["inputs"]["layers_tokens_dims"], dtype=torch.float64)
    np.testing.assert_allclose(power_means(layers), check["expected"], atol=1e-6)


@cache
def loaded(folder: str) -> tuple[Any, Any]:
    """Tokenizer and model as transformers load them."""
    return (
        AutoTokenizer.from_pretrained(folder, use_fast=False),
        AutoModel.from_pretrained(folder).eval(),
    )


def plain(
    folder: str, version: str, segment: SegmentInput, n: int, corpus: list[str] | None
) -> float:
    """One score, as the specification words it: C.7 of the notes on the papers."""
    tokenizer, model = loaded(folder)
    documents = [set(tokenizer(line)["input_ids"]) for line in corpus or []]
    sides = []
    for text in (segment.references[0], segment.hypothesis):
        encoded = tokenizer(text, return_tensors="pt")
        ids = encoded["input_ids"][0].tolist()
        with torch.inference_mode():
            states = model(**encoded, output_hidden_states=True).hidden_states
        last = [layer[0].double().numpy() for layer in states]
        if version == "v1":
            unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in last[-5:]]
            vectors = np.hstack([np.min(unit, 0), np.mean(unit, 0), np.max(unit, 0)])
        else:
            vectors = last[-1]
        pieces = tokenizer.convert_ids_to_tokens(ids)
        keep = [
            index
            for index, piece in enumerate(pieces)
            if "##" not in piece and piece not in string.punctuation
        ]
        idf = np.ones(len(ids))
        if corpus is not None:
            counts = [sum(token in document for document in documents) for token in ids]
            idf = np.array([math.log((len(documents) + 1) / (count + 1)) for count in counts])
        grams, weights = [], []
        for start in range(len(keep) - n + 1):
            window = keep[start : start + n]
            weights.append(idf[window].sum())
            mean = (idf[window, None] * vectors[window]).sum(0) / (weights[-1] + 1e-5)
            grams.append(mean / (np.linalg.norm(mean) + 1e-30))
        sides.append((np.array(grams), np.array(weights) / np.sum(weights)))
    (left, supplies), (right, demands) = sides
    cost = np.linalg.norm(left[:, None] - right[None], axis=2)
    if version == "v1":
        return 1 - float(ot.emd2(supplies, demands, cost**2))
    return 1 / (1 + float(ot.emd2(supplies, demands, cost)))


@pytest.mark.parametrize("has_idf", [False, True])
@pytest.mark.parametrize(("version", "sizes"), [("v1", (1, 2)), ("v2", (1,))])
def test_equal_to_a_plain_computation(
    folders: dict[str, str],
    tmp_path: Path,
    version: str,
    sizes: tuple[int, ...],
    has_idf: bool,
) -> None:
    corpus = tmp_path / "corpus.txt"
    lines = [*REFERENCES, OUTPUTS[0]]
    corpus.write_text("\n".join(lines), encoding="utf-8")
    paths = dict.fromkeys(("idf-reference", "idf-hypothesis"), str(corpus) if has_idf else "")
    # Punctuation alone leaves the two special tokens, which weigh nothing under idf.
    pairs = [each for each in PAIRS if each.hypothesis != "?!"]
    found = make(folders[version], version, **paths).score(pairs)
    expected = [
        [plain(folders[version], version, each, n, lines if has_idf else None) for n in sizes]
        for each in pairs
    ]
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_several_references_give_the_best(folders: dict[str, str]) -> None:
    metric = make(folders["v2"], "v2")
    alone = metric.score(PAIRS).reshape(len(OUTPUTS), 2)
    both = metric.score([SegmentInput("", output, tuple(REFERENCES)) for output in OUTPUTS])
    np.testing.assert_allclose(both[:, 0], alone.max(1), atol=1e-5)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_odd_texts_have_defined_values(
    folders: dict[str, str], tmp_path: Path, version: str
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(REFERENCES))
    metric = make(folders[version], version, **{"idf-hypothesis": str(corpus)})
    odd = ["?!", "harbour", "harbour " * 1_000, "港口"]
    with pytest.warns(MetricWarning) as caught:
        rows = metric.score([SegmentInput("", text, (REFERENCES[0],)) for text in [*odd, ""]])
    (problem,) = [
        each.message.message for each in caught if isinstance(each.message, MetricWarning)
    ]
    assert (problem.code, problem.parameters["n"]) == ("mover.empty-texts", 1)
    assert np.isfinite(rows).all()
    assert (rows[-1] < rows[:-1].min(0)).all()


def test_a_reference_is_needed(folders: dict[str, str]) -> None:
    with pytest.raises(MetricError) as caught:
        make(folders["v2"], "v2").score([SegmentInput("a", "b", ())])
    assert caught.value.message.code == "metric.segment-without-reference"


def test_the_signature_says_what_changes_values(folders: dict[str, str], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b")
    signatures = {
        make(folders["v1"], version, **given).signature()
        for version, given in (
            ("v1", {}),
            ("v2", {}),
            ("v1", {"idf-reference": str(corpus)}),
            ("v1", {"idf-hypothesis": str(corpus)}),
        )
    }
    assert len(signatures) == 4


def test_settings_that_do_not_fit(folders: dict[str, str], tmp_path: Path) -> None:
    with refused("option.problem", kind=ValueError, option="n", problem="moverscore.unigrams-only"):
        make(folders["v2"], "v2", n="2")
    shallow = str(small.bert(tmp_path / "bert", OUTPUTS, layers=3))
    with refused("option.problem", kind=ValueError, problem="moverscore.too-few-layers", needed=5):
        make(shallow, "v1")
