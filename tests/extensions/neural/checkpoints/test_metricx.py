"""MetricX against its published definition, on a small checkpoint in its format."""

import copy
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, MT5Config
from transformers.models.mt5.modeling_mt5 import MT5PreTrainedModel, MT5Stack

from benchmarks.gpu import small
from extensions.neural.checkpoints.metricx import MetricX
from extensions.neural.encoding import encoders
from metrics import options, registry
from metrics.base import MetricError, SegmentInput
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS, Run
from tests.refusals import refused

LONG = "harbour quiet " * 2_000
# In a batch sums come in another order; with AVX2 theirs is 1e-4 from what they have in float64.
assert_close = partial(np.testing.assert_allclose, rtol=5e-5, atol=1e-5)
INPUTS = [SegmentInput(TEXTS[5], output, (TEXTS[1],)) for output in [*TEXTS, ""]]
# Release and whether it reads a reference, with the input that the release makes of texts.
Inputs = dict[tuple[str, bool], Callable[[SegmentInput], str]]
WRITTEN: Inputs = {
    ("23", True): lambda s: "candidate: " + s.hypothesis + " reference: " + s.references[0],
    ("23", False): lambda s: "candidate: " + s.hypothesis + " source: " + s.source,
    ("24", True): lambda s: (
        "source: " + s.source + " candidate: " + s.hypothesis + " reference: " + s.references[0]
    ),
    ("24", False): lambda s: "source: " + s.source + " candidate: " + s.hypothesis,
}


class MT5ForRegression(MT5PreTrainedModel):  # type: ignore[misc,no-untyped-call]
    """The released class: two stacks, a projection, one step, one token, cut to 0 to 25."""

    _tied_weights_keys = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")

    def __init__(self, config: MT5Config) -> None:
        super().__init__(config)
        self.shared = torch.nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = MT5Stack(self._of(config, False), self.shared)
        self.decoder = MT5Stack(self._of(config, True), self.shared)
        self.lm_head = torch.nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.post_init()

    @staticmethod
    def _of(config: MT5Config, is_decoder: bool) -> Any:
        own = copy.deepcopy(config)
        own.is_decoder, own.is_encoder_decoder, own.use_cache = is_decoder, False, False
        own.num_layers = config.num_decoder_layers if is_decoder else config.num_layers
        return own

    def forward(self, ids: list[int]) -> float:
        states = self.encoder(input_ids=torch.tensor([ids]))[0]
        written = self.decoder(input_ids=torch.tensor([[0]]), encoder_hidden_states=states)[0]
        return float(self.lm_head(written)[0, 0, 250089].clamp(0, 25))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.metricx(tmp_path_factory.mktemp("metricx") / "model")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.mt5_tokenizer(tmp_path_factory.mktemp("mt5") / "mt5", TEXTS * 4)


@pytest.fixture(scope="module", autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def make(checkpoint: Path, tokenizer: Path, **given: object) -> MetricX:
    family = registry.get_family("metricx")
    chosen = {"checkpoint": str(checkpoint), "tokenizer": str(tokenizer), **given}
    info = family.describe("small", "Small", options.clean(family, chosen))
    return MetricX(info, source_language="zh", target_language="en")


@cache
def released(checkpoint: Path, dtype: torch.dtype) -> Any:
    return MT5ForRegression.from_pretrained(checkpoint, dtype=dtype).eval()


def official(
    checkpoint: Path,
    tokenizer: Path,
    texts: list[str],
    longest: int,
    dtype: torch.dtype = torch.float32,
) -> list[float]:
    model = released(checkpoint, dtype)
    cut: Any = AutoTokenizer.from_pretrained(tokenizer)
    with torch.no_grad():
        return [
            model(cut(text, max_length=longest, truncation=True)["input_ids"][:-1])
            for text in texts
        ]


@pytest.mark.parametrize(("release", "reference"), WRITTEN)
def test_equal_to_the_published_definition(
    checkpoint: Path, tokenizer: Path, release: str, reference: bool
) -> None:
    metric = make(checkpoint, tokenizer, release=release, reference=reference)
    texts = [WRITTEN[release, reference](each) for each in INPUTS]
    theirs = official(checkpoint, tokenizer, texts, 1024 if release == "23" else 1536)
    ours = metric.score(INPUTS)[:, 0]
    assert np.ptp(ours) > 0.5  # a model that says the same of everything would prove nothing
    alone = np.concatenate([metric.score([each])[:, 0] for each in INPUTS])
    np.testing.assert_allclose(alone, theirs, atol=1e-5)
    assert_close(ours, theirs)


@pytest.mark.parametrize(("release", "longest"), [("23", 1024), ("24", 1536)])
def test_a_long_input_is_cut_and_then_loses_its_end(
    checkpoint: Path, tokenizer: Path, release: str, longest: int
) -> None:
    """Its own end, not the token before it: one token more or less changes the error."""
    segment = SegmentInput(TEXTS[4], LONG, (TEXTS[0],))
    metric = make(checkpoint, tokenizer, release=release)
    text = WRITTEN[release, True](segment)
    ids, is_cut = metric._tokenize(text)
    assert (len(ids), is_cut) == (longest - 1, True)
    theirs = official(checkpoint, tokenizer, [text], longest)
    np.testing.assert_allclose(metric.score([segment])[:, 0], theirs, atol=1e-4)


def test_values_do_not_depend_on_the_batch(checkpoint: Path, tokenizer: Path) -> None:
    metric = make(checkpoint, tokenizer)
    together = metric.score(INPUTS)
    metric.loaded.budget = 1
    assert_close(metric.score(INPUTS), together)
    encoders.forget()


def test_errors_stay_between_0_and_25(checkpoint: Path, tokenizer: Path) -> None:
    metric = make(checkpoint, tokenizer)
    with torch.no_grad():
        for factor, bound in ((1e4, 25.0), (-1.0, 0.0)):
            metric.loaded.model.lm_head.weight[250089] *= factor
            found = metric.score(INPUTS)
            assert found.min() >= 0
            assert found.max() <= 25
            assert (found == bound).any()
    encoders.forget()


def test_lower_is_better_and_so_is_the_best_of_several(checkpoint: Path, tokenizer: Path) -> None:
    metric = make(checkpoint, tokenizer, references="best")
    assert not metric.info.higher_is_better
    alone = metric.score([SegmentInput("a", TEXTS[2], (TEXTS[n],)) for n in (0, 3)])
    both = metric.score([SegmentInput("a", TEXTS[2], (TEXTS[0], TEXTS[3]))])
    assert both[0, 0] == alone.min() < alone.max()


def test_what_is_read(checkpoint: Path, tokenizer: Path) -> None:
    reads = {
        key: make(checkpoint, tokenizer, release=key[0], reference=key[1]).info.reads.code
        for key in WRITTEN
    }
    assert reads == {
        ("23", True): "reads.reference",
        ("23", False): "reads.source",
        ("24", True): "reads.source-and-reference",
        ("24", False): "reads.source",
    }


def test_bfloat16_is_that_of_the_released_weights(checkpoint: Path, tokenizer: Path) -> None:
    metric = make(checkpoint, tokenizer, precision="bfloat16")
    metric.loaded.budget = 1  # what pads is rounded, too
    texts = [WRITTEN["24", True](each) for each in INPUTS]
    theirs = official(checkpoint, tokenizer, texts, 1536, torch.bfloat16)
    ours = metric.score(INPUTS)[:, 0]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert np.abs(ours - make(checkpoint, tokenizer).score(INPUTS)[:, 0]).max() > 0.01
    assert "|precision:bfloat16|" in metric.signature()


def test_the_signature_names_release_reference_and_files(checkpoint: Path, tokenizer: Path) -> None:
    signatures = {
        make(checkpoint, tokenizer, release=release, reference=reference).signature()
        for release, reference in WRITTEN
    }
    assert len(signatures) == 4
    assert all("|tokenizer:" in each and "|weights:" in each for each in signatures)


def test_another_model_is_no_metricx(tmp_path: Path, tokenizer: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    with refused("checkpoint.weights-missing", kind=MetricError):
        make(folder, tokenizer)


def test_a_missing_tokenizer_says_how_to_get_it(checkpoint: Path) -> None:
    with refused("checkpoint.missing", kind=MetricError, checkpoint="google/mt5-xl"):
        make(checkpoint, Path("google/mt5-xl"))


def test_a_pickle_is_never_run(checkpoint: Path, tokenizer: Path, tmp_path: Path) -> None:
    folder, mark = tmp_path / "model", tmp_path / "was-run"
    folder.mkdir()
    (folder / "config.json").write_text((checkpoint / "config.json").read_text())
    torch.save({"shared.weight": Run(mark)}, folder / "pytorch_model.bin")
    with refused("metricx.not-loaded", kind=MetricError):
        make(folder, tokenizer)
    assert not mark.exists()
