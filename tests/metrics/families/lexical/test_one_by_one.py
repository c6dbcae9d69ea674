"""BLEU, chrF, TER and ROUGE with options, against their own packages."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import sentencepiece
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.tokenizers import tokenizer_spm

from metrics import registry
from metrics.base import Metric, MetricError, SegmentInput
from metrics.options import OptionError
from tests.metrics.families.lexical import examples
from tests.metrics.families.lexical.conftest import Newstest
from tests.refusals import refused

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


def make(metric: str, references: str = "", **given: str) -> Metric:
    options = {"metric": metric, "references": references, **given}
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


# The names that sacrebleu has for the tokenizers to choose from.
TOKENIZERS = {
    **{name: name for name in ("13a", "intl", "zh", "ja-mecab", "ko-mecab")},
    "characters": "char",
    "whitespace": "none",
}


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_tokenizers_are_those_of_sacrebleu(
    tokenizer: str, lowercase: bool, newstests: dict[str, Newstest]
) -> None:
    """On 40 published outputs, in capitals, and on hostile texts with several references."""
    newstest = newstests["de-en"]
    inputs = [
        *(SegmentInput("", one.hypothesis.title(), one.references) for one in newstest.inputs[:40]),
        *examples.inputs("ko"),
        *examples.inputs("ja"),
        *examples.inputs("zh"),
    ]
    theirs = sacrebleu.BLEU(tokenize=TOKENIZERS[tokenizer], lowercase=lowercase, force=True)
    hypotheses = [segment.hypothesis for segment in inputs]
    expected = theirs.corpus_score(hypotheses, examples.streams(inputs)).score
    options = {"tokenizer": tokenizer, "lowercase": str(lowercase)}
    made = make("bleu", **options)
    scores = made.score(inputs)
    assert examples.corpus_score(made, scores) == pytest.approx(expected, rel=1e-12)
    theirs.effective_order = True
    sentences = [theirs.sentence_score(s.hypothesis, s.references).score for s in inputs]
    np.testing.assert_allclose(scores[:, 0], sentences, rtol=1e-12)
    np.testing.assert_array_equal(make("sentbleu", **options).score(inputs)[:, 0], scores[:, 0])
    case = "lc" if lowercase else "mixed"
    tok = theirs.tokenizer_signature
    assert f"|case:{case}|eff:segment|bp:yes|tok:{tok}|" in made.signature()


@pytest.mark.parametrize("choice", ["segments", "yes", "no"])
def test_effective_order_is_that_of_sacrebleu(choice: str) -> None:
    short = [SegmentInput("", "quiet harbour", ("a quiet harbour",))]
    made = make("bleu", **{"effective-order": choice})
    scores = made.score(short)
    for found, effective in (
        (scores[0, 0], choice != "no"),
        (examples.corpus_score(made, scores), choice == "yes"),
    ):
        theirs = sacrebleu.BLEU(effective_order=effective)
        assert found == pytest.approx(
            theirs.corpus_score(["quiet harbour"], [["a quiet harbour"]]).score
        )
    eff = {"segments": "segment"}.get(choice, choice)
    assert f"|eff:{eff}|" in made.signature()


def test_flores200_takes_its_model_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newstests: dict[str, Newstest]
) -> None:
    """sacrebleu reads a small model in place of the published one."""
    inputs = newstests["de-en"].inputs[:60]
    (tmp_path / "models").mkdir()
    prefix = tmp_path / "models" / "flores200sacrebleuspm"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([each.references[0] for each in newstests["de-en"].inputs[:800]]),
        model_prefix=str(prefix),
        vocab_size=300,
        minloglevel=2,
    )
    model = prefix.with_suffix(".model").rename(prefix)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    theirs = sacrebleu.BLEU(tokenize="flores200", force=True)
    expected = theirs.corpus_score([s.hypothesis for s in inputs], examples.streams(inputs)).score
    made = make("bleu", **{"tokenizer": "flores200", "tokenizer-model": str(model)})
    assert examples.corpus_score(made, made.score(inputs)) == pytest.approx(expected, rel=1e-12)
    assert "|tok:flores200-" in made.signature()
    model.write_text("no model")
    broken = make("bleu", **{"tokenizer": "flores200", "tokenizer-model": str(model)})
    with refused("lexical.tokenizer-model", kind=MetricError):
        broken.signature()


def test_with_its_defaults_a_metric_is_itself() -> None:
    for name in ("bleu", "bleu-star", "sentbleu", "chrf", "chrf++", "ter", "rouge"):
        itself = registry.load(name, source_language="de", target_language="en")
        made = make(name)
        np.testing.assert_array_equal(made.score(INPUTS), itself.score(INPUTS))
        _, _, rest = itself.signature().partition("|")
        assert made.signature() == f"mine|metric:{name}|{rest}"
        assert made.info.references == itself.info.references


def test_case_of_chrf() -> None:
    made = make("chrf", lowercase="yes")
    theirs = sacrebleu.CHRF(lowercase=True)
    texts = [s.hypothesis.upper() for s in INPUTS]
    inputs = [SegmentInput("", text, s.references) for text, s in zip(texts, INPUTS, strict=True)]
    expected = theirs.corpus_score(texts, examples.streams(inputs)).score
    assert examples.corpus_score(made, made.score(inputs)) == pytest.approx(expected)
    assert "|case:lc|" in made.signature()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("lexical.option-of-others", {"metric": "ter", "lowercase": "yes"}),
        ("lexical.option-of-others", {"metric": "chrf", "tokenizer": "13a"}),
        ("lexical.model-of-flores200", {"metric": "bleu", "tokenizer": "flores200"}),
        ("lexical.model-of-flores200", {"metric": "bleu", "tokenizer-model": "/some/file"}),
    ],
)
def test_options_that_do_not_fit(code: str, options: dict[str, str]) -> None:
    with pytest.raises(OptionError) as caught:
        registry.configure("lexical", "mine", "Mine", options)
    assert caught.value.problem.code == code
