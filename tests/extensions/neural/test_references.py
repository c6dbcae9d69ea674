"""Which references are read: an option of every family, in the signature, and what it does."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import small
from metrics import registry
from metrics.base import READING_WORDS, Metric, MetricInfo, SegmentInput, one_measure
from metrics.families import references
from tests.extensions.neural.reference_free import OUTPUTS, REFERENCES, SOURCES, TEXTS, make

# Families that read no references, whatever their options; a judge reads the first.
REFERENCE_FREE = {
    "floor", "judge", "xmoverscore", "refreeeval", "refreeeval-head", "sentsim", "sentinel",
    "trained-sentinel", "ibm1",
}  # fmt: skip
SEVERAL = [
    SegmentInput(source, output, (REFERENCES[place], REFERENCES[1 - place], OUTPUTS[0]))
    for place, source in enumerate(SOURCES[:2])
    for output in OUTPUTS[:3]
]
COMPARED = {"compare": "reference"}
# Kernels add in another order for each batch, so the last digits of float32 differ.
assert_close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)


def word_vectors(folder: Path) -> dict[str, Any]:
    """A vector of two numbers for every word."""
    words = sorted({word for text in TEXTS for word in text.replace(".", " .").split()})
    lines = [f"{word} {n % 7 + 1} {n % 5 - 2}" for n, word in enumerate(words)]
    path = folder / "words.vec"
    path.write_text(f"{len(words)} 2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return {"vectors": str(path), **COMPARED}


def comet(folder: Path, kind: str = "regression_metric", **changes: object) -> dict[str, Any]:
    encoder = small.xlm_roberta(folder / "xlmr", TEXTS * 4)
    return {"checkpoint": str(small.comet(folder / "comet", encoder, kind, **changes))}


def unified(folder: Path) -> dict[str, Any]:
    segments = {"input_segments": ["mt", "src", "ref"], "word_level_training": False}
    return comet(folder, "unified_metric", word_layer=3, **segments)


def encoder(folder: Path) -> dict[str, Any]:
    return {"checkpoint": str(small.bert(folder / "bert", TEXTS))}


def metricx(folder: Path) -> dict[str, Any]:
    tokenizer = small.mt5_tokenizer(folder / "mt5", TEXTS * 4)
    return {"checkpoint": str(small.metricx(folder / "metricx")), "tokenizer": str(tokenizer)}


# What makes a metric of each family that compares with references, and what it did before.
MADE: dict[str, tuple[str, str, Callable[[Path], dict[str, Any]]]] = {
    "bertscore": ("bertscore", "best", lambda folder: encoder(folder) | {"layer": 2}),
    "xbertscore": ("xbertscore", "best", lambda f: encoder(f) | COMPARED | {"layer": 2}),
    "moverscore": ("moverscore", "best", encoder),
    "cosine": ("cosine", "best", lambda folder: encoder(folder) | COMPARED),
    "comet": ("comet", "first", comet),
    "unified": ("comet", "first", unified),
    "bleurt": ("bleurt", "mean", lambda f: {"checkpoint": str(small.bleurt(f / "b", TEXTS * 4))}),
    "metricx": ("metricx", "first", metricx),
    "likelihood": (
        "likelihood",
        "mean",
        lambda f: {"checkpoint": str(small.bart_with_head(f / "b", TEXTS * 4))},
    ),
    "yisi": ("yisi", "best", lambda folder: encoder(folder) | COMPARED | {"layer": 2}),
    "yisi-static": ("yisi-static", "best", word_vectors),
    "yisi-0": ("yisi-0", "best", lambda folder: {}),
    "wmd": ("wmd", "best", word_vectors),
    "sentbleu-wmt": ("sentbleu-wmt", "all", lambda folder: {}),
    "lexical": ("lexical", "all", lambda folder: {"metric": "sentbleu"}),
}
Made = Callable[..., Metric]


@pytest.fixture(scope="module", params=MADE)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    family, default, options = MADE[request.param]
    given = options(tmp_path_factory.mktemp(request.param))

    def build(references: str | None = None) -> Metric:
        chosen = {} if references is None else {"references": references}
        return make(family, **given, **chosen)

    build.default = default  # type: ignore[attr-defined]
    return build


def alone(metric: Metric, place: int) -> np.ndarray:
    """Scores against one of the references, as if there were no other."""
    return metric.score(
        [SegmentInput(s.source, s.hypothesis, (s.references[place],)) for s in SEVERAL]
    )


def test_every_family_that_reads_references_has_the_option() -> None:
    with_option = {
        key
        for key in registry.FAMILIES
        if "references" in {option.name for option in registry.get_family(key).options}
    }
    assert with_option == set(registry.FAMILIES) - REFERENCE_FREE
    assert {family for family, _, _ in MADE.values()} == with_option


def test_the_first_the_best_the_mean(made: Made) -> None:
    each = np.stack([alone(made("first"), place) for place in range(3)])
    assert np.ptp(each[:, :, 0], axis=0).max() > 2e-5  # random weights give similar scores
    assert_close(made("first").score(SEVERAL), each[0])
    assert_close(made("mean").score(SEVERAL), each.mean(axis=0))
    best = made("best")
    if not best.info.family.startswith("yisi"):  # there, of precision and recall: see test_core
        most = each.max(axis=0) if best.info.higher_is_better else each.min(axis=0)
        assert_close(best.score(SEVERAL), most)


def test_the_default_is_stated(made: Made) -> None:
    metric, default = made(), made.default  # type: ignore[attr-defined]
    assert metric.info.references == default
    assert metric.info.reading == READING_WORDS[default]
    same = made(default)
    assert metric.signature() == same.signature()
    assert_close(metric.score(SEVERAL), same.score(SEVERAL))


def test_the_signature_tells_them_apart(made: Made) -> None:
    signatures = {choice: made(choice).signature() for choice in references.CHOICES}
    assert len(set(signatures.values())) == len(signatures)
    for choice, signature in signatures.items():
        assert f":{choice}" in signature


def test_no_reference_is_read_against_the_source(xlmr: str) -> None:
    metric = make("xbertscore", checkpoint=xlmr, layer=2, references="mean")
    assert (metric.info.references, metric.info.reading) == ("", None)
    assert "|references:" not in metric.signature()


def test_each_reference_is_scored_once(xlmr: str, fresh: None) -> None:
    """However many outputs it has, and whatever becomes of the scores."""
    metric, seen = make("bertscore", checkpoint=xlmr, layer=2, references="mean"), []
    encode = metric.encoder.pad  # type: ignore[attr-defined]

    def counting(ids: Any) -> Any:
        seen.extend(map(tuple, ids))
        return encode(ids)

    metric.encoder.pad = counting  # type: ignore[attr-defined]
    metric.score(SEVERAL)
    assert len(seen) == len(set(seen))


def test_a_metric_of_before_reads_what_it_always_did() -> None:
    """Rows that were stored before have no such option."""
    info = one_measure("c", "C", needs_source=True, needs_reference=True, family="comet")
    assert (info.references, reading_of(info)) == ("first", "references.first")
    assert reading_of(registry.get_info("bleu")) == "references.all"
    assert reading_of(registry.get_info("chrf")) == "references.best"
    assert registry.get_info("wmt22-cometkiwi-da").reading is None


def reading_of(info: MetricInfo) -> str:
    assert info.reading is not None
    return info.reading.code


@pytest.mark.parametrize("chosen", ["best", "mean"])
def test_what_is_no_number_for_one_reference_is_none_for_all(chosen: str) -> None:
    options = (("references", chosen),)
    info = one_measure("c", "C", needs_source=False, needs_reference=True, options=options)
    assert np.isnan(references.one_of(info, [0.5, np.nan]))
