"""BLEU, chrF, TER and ROUGE that read references one by one, against their own packages."""

from collections.abc import Callable

import numpy as np
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer

from metrics import registry
from metrics.base import Metric, MetricError, SegmentInput

INPUTS = [
    SegmentInput("", "The harbour was quiet.", ("All was quiet there.", "The harbour was calm.")),
    SegmentInput("", "Nobody saw the ships.", ("The ships left unseen.", "No one saw the ships.")),
]
Sentence = Callable[[str, str], float]
SENTENCE: dict[str, Sentence] = {
    "bleu": lambda h, r: sacrebleu.sentence_bleu(h, [r]).score,
    "chrf": lambda h, r: sacrebleu.sentence_chrf(h, [r]).score,
    "ter": lambda h, r: sacrebleu.sentence_ter(h, [r]).score,
    "rouge": lambda h, r: RougeScorer(["rouge1"]).score(r, h)["rouge1"].fmeasure,
}
CORPUS = {
    "bleu": sacrebleu.corpus_bleu,
    "chrf": sacrebleu.corpus_chrf,
    "ter": sacrebleu.corpus_ter,
}


def make(metric: str, references: str) -> Metric:
    options = {"metric": metric, "references": references}
    info = registry.configure("lexical", "mine", "Mine", options)
    path = registry.get_family("lexical").scorer
    return registry.build(info, path, source_language="de", target_language="en")


@pytest.mark.parametrize("metric", SENTENCE)
def test_segments(metric: str) -> None:
    each = np.array([[SENTENCE[metric](s.hypothesis, r) for r in s.references] for s in INPUTS])
    best = each.min(axis=1) if metric == "ter" else each.max(axis=1)
    column = 2 if metric == "rouge" else 0
    for references, expected in (("first", each[:, 0]), ("best", best), ("mean", each.mean(1))):
        found = make(metric, references).score(INPUTS)[:, column]
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("metric", CORPUS)
def test_the_first_keeps_the_corpus_score(metric: str) -> None:
    made = make(metric, "first")
    summed = made.score(INPUTS)[:, 1:].sum(axis=0, keepdims=True)
    hypotheses, firsts = zip(*((s.hypothesis, s.references[0]) for s in INPUTS), strict=True)
    expected = CORPUS[metric](list(hypotheses), [list(firsts)]).score
    assert made.corpus(summed)[0, 0] == pytest.approx(expected, abs=1e-9)


def test_without_statistics_a_system_has_the_mean_of_its_segments() -> None:
    made = make("ter", "best")
    assert made.info.statistics == ()
    assert not made.info.higher_is_better
    assert made.info.description.code == "lexical.one-by-one"
    with pytest.raises(MetricError) as caught:
        made.corpus(np.zeros((1, 2)))
    assert caught.value.message.code == "metric.no-corpus-statistics"


def test_the_signature_names_metric_and_references() -> None:
    made = make("chrf", "mean").signature()
    assert made.startswith("mine|metric:chrf|nrefs:mean|case:mixed|")
    assert make("bleu", "first").signature() != make("bleu-star", "first").signature()
    assert make("rouge", "best").info.measures[0] == "mine-rouge1-p"
