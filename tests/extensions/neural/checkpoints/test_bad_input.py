"""Texts that nobody expects, through every neural family: a defined score for each."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from metrics import registry
from metrics.base import Metric, MetricError, SegmentInput
from tests.extensions.neural.checkpoints.test_bertscore import FORMATS, TEXTS
from tests.extensions.neural.checkpoints.test_comet import CHECKPOINTS
from tests.refusals import refused

SOURCE, REFERENCE = "港口整个上午都很安静。", "The harbour was quiet all morning."
ODD = {
    "empty": "",
    "blank": " \u3000\u00a0",
    "punctuation": "?!… —",
    "emoji": "👩‍👩‍👧🏳️‍🌈",
    "control": "a\x01b\x1bc\u0085\u2028d",
    "invisible": "\u200b\u200d\ufeff\u2060",
    "null": "\x00",
    "unassigned": "\U0010ffff\ue000",
    "combining": "e" + "\u0301" * 500,
    "special": "[CLS] [PAD] </s> <pad> [SEP] <mask>",
    "endless": "harbour " * 10_000,
    "one-word": "h" * 10_000,
    "repeated": REFERENCE,
}


def build_encoder(build: Callable[..., Path]) -> Callable[[Path], tuple[str, dict[str, object]]]:
    def made(folder: Path) -> tuple[str, dict[str, object]]:
        return "bertscore", {"checkpoint": str(build(folder / "model", TEXTS * 4)), "layer": 2}

    return made


def build_comet(name: str) -> Callable[[Path], tuple[str, dict[str, object]]]:
    kind, changes = CHECKPOINTS[name]

    def made(folder: Path) -> tuple[str, dict[str, object]]:
        encoder = small.xlm_roberta(folder / "xlmr", TEXTS * 4)
        checkpoint = str(small.comet(folder / "m", encoder, kind, **changes))
        return "comet", {"checkpoint": checkpoint, "reference": name != "kiwi"}

    return made


def build_bleurt(folder: Path) -> tuple[str, dict[str, object]]:
    return "bleurt", {"checkpoint": str(small.bleurt(folder / "model", TEXTS * 4))}


BUILDERS = {
    **{build.__name__: build_encoder(build) for build in (*FORMATS, small.gpt2)},
    **{name: build_comet(name) for name in ("comet", "kiwi", "unified", "xcomet")},
    "bleurt": build_bleurt,
}


@pytest.fixture(scope="module", params=BUILDERS)
def metric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Metric:
    """A metric of each family as an admin configures it."""
    encoders.forget()
    family, options = BUILDERS[request.param](tmp_path_factory.mktemp(request.param))
    info = registry.configure(family, "small", "Small", options)
    path = registry.get_family(family).scorer
    return registry.build(info, path, source_language="zh", target_language="en")


@pytest.mark.parametrize("name", ODD)
def test_an_odd_text_has_a_score_on_every_side(metric: Metric, name: str) -> None:
    odd = ODD[name]
    inputs = [
        SegmentInput(SOURCE, odd, (REFERENCE,)),
        SegmentInput(SOURCE, REFERENCE, (odd,)),
        SegmentInput(odd, REFERENCE, (REFERENCE,)),
        SegmentInput(odd, odd, (odd,)),
        SegmentInput(SOURCE, odd, (odd, REFERENCE)),
    ]
    rows = metric.score(inputs)
    assert rows.shape == (5, metric.info.width)
    assert np.isfinite(rows).all()
    if metric.info.family == "bertscore":
        assert (np.abs(rows) <= 1 + 1e-5).all()


def test_odd_neighbours_change_nothing(metric: Metric) -> None:
    good = [SegmentInput(SOURCE, text, (REFERENCE,)) for text in TEXTS[:3]]
    among = [SegmentInput(text, text, (text,)) for text in ODD.values()]
    together = metric.score([*among, *good])[-3:]
    np.testing.assert_allclose(together, metric.score(good), atol=1e-5)


def test_half_a_character_names_its_segment(metric: Metric) -> None:
    good = SegmentInput(SOURCE, TEXTS[0], (REFERENCE,))
    with refused(
        "metric.lone-surrogate", kind=MetricError, field="metric.field-output", number=1
    ) as caught:
        metric.score([good, SegmentInput(SOURCE, "\ud800", (REFERENCE,))])
    assert caught.value.index == 1
    assert caught.value.permanent


def test_what_a_run_log_reads(metric: Metric) -> None:
    """Optional attributes that the engine shows of a run."""
    assert (metric.device, metric.precision) == ("cpu", "float32")
    assert metric.budget == encoders.TOKENS_PER_BATCH["cpu"]
