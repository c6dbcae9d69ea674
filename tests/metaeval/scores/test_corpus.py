import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from metaeval.messages import DataError
from metaeval.scores import CorpusStatistics, bleu_score, bleu_star_score, chrf_score
from metaeval.scores.corpus import ter_score
from tests.refusals import refused

HYPOTHESES = ["the cat sat on a mat today", "dogs bark", "he went home early on Friday night"]
REFERENCES = ["the cat sat on the mat", "a dog barks loudly", "he went home early on Friday"]


@pytest.mark.parametrize("segments", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_scores_of_summed_counts_equal_sacrebleu(segments):
    out, ref = [HYPOTHESES[i] for i in segments], [[REFERENCES[i] for i in segments]]
    for metric, score in ((BLEU(), bleu_score), (CHRF(), chrf_score)):
        counts = np.array(metric._extract_corpus_statistics(out, ref), dtype=float)
        peer = metric.corpus_score(out, ref)
        assert score(counts.sum(axis=0)[None])[0] == pytest.approx(peer.score)
        if score is bleu_score and peer.score:
            star = bleu_star_score(counts.sum(axis=0)[None])[0]
            assert star == pytest.approx(peer.score / peer.bp)


def test_statistics_refuse_a_plain_matrix():
    with refused(
        "argument.shape",
        kind=DataError,
        name="values",
        shape="systems × segments × k",
        got="(1, 2)",
    ):
        CorpusStatistics([[1, 2]], "A", "st", bleu_score)


def test_what_a_system_lacks_is_no_score():
    """Without any output no TER of 0, which is the best, and of half a cell no half."""
    counts = [[[3, 10], [1, 10]], [[np.nan] * 2] * 2, [[1, np.nan], [4, 10]]]
    found = CorpusStatistics(counts, ["A", "none", "half"], ["s1", "s2"], ter_score).system_scores()
    assert found == pytest.approx([20, np.nan, 40], nan_ok=True)
