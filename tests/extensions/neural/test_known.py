"""The neural metrics of every list: complete, and clear about what is missing."""

import pytest

from extensions.neural.known import KNOWN
from metrics.base import MetricError
from metrics.registry import METRICS, get_info, load
from tests.refusals import refused

NEURAL = [name for name, (info, _) in KNOWN.items() if info.checkpoint]


def test_all_are_in_the_registry():
    assert {name: METRICS[name] for name in KNOWN} == KNOWN


def test_only_metricx_is_better_lower():
    lower = [name for name in KNOWN if not get_info(name).higher_is_better]
    assert {name.partition("-")[0] for name in lower} == {"metricx"}


@pytest.mark.parametrize("name", NEURAL)
def test_a_model_that_is_missing_says_how_to_get_it(name):
    checkpoint = get_info(name).checkpoint
    with refused("checkpoint.missing", kind=MetricError, checkpoint=checkpoint) as caught:
        load(name, source_language="en", target_language="zh")
    assert caught.value.permanent


def test_the_eighteen_of_the_study():
    """Cheng et al. 2023, section 5: BLEU*, 9 ROUGE, 4 BERTScore, 3 COMET, BLEURT-20."""
    measures = [key for name in ("bleu-star", "rouge") for key in get_info(name).measures]
    shown = [key for name in [*NEURAL[:7], "bleurt-20"] for key in get_info(name).table_measures]
    assert len(measures + shown) == 18
    layers = {name: len(get_info(name).measures) // 3 for name in NEURAL[:4]}
    # Embeddings and 12, 12, 24 and 48 layers.
    assert list(layers.values()) == [13, 13, 25, 49]
