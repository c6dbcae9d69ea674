"""Checkpoints of the genuine formats with random weights, in three sizes, and texts to score."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.gpu import small
from extensions.neural.trained import refreeeval
from metrics.base import SegmentInput
from metrics.checkpoints.places import fingerprint

SYSTEMS = 4
LETTERS = "abcdefghijklmnoprstuvwz"


@dataclass(frozen=True)
class Size:
    """``layers`` and widths of a transformer; ``pieces`` is the size of SentencePiece models."""

    layers: int
    width: int
    heads: int
    pieces: int
    estimator: tuple[int, int]
    # As spread as trained ones: with the usual 0.02 the layers would add next to nothing.
    spread: float

    @property
    def layer(self) -> int:
        """The layer whose token vectors are compared."""
        return self.layers * 3 // 4

    @property
    def settings(self) -> dict[str, float]:
        """What configurations of transformers call them."""
        return {
            "hidden_size": self.width,
            "num_attention_heads": self.heads,
            "intermediate_size": 4 * self.width,
            "initializer_range": self.spread,
        }

    @property
    def gpt2(self) -> dict[str, float]:
        """What GPT-2 calls them."""
        named = {"n_embd": self.width, "n_layer": self.layers, "n_head": self.heads}
        return named | {"initializer_range": self.spread}

    @property
    def bart(self) -> dict[str, float]:
        """What BART calls them: half of the layers on either side."""
        named: dict[str, float] = {"d_model": self.width}
        for part in ("encoder", "decoder"):
            named[f"{part}_layers"] = self.layers // 2
            named[f"{part}_attention_heads"] = self.heads
            named[f"{part}_ffn_dim"] = 4 * self.width
        return named

    @property
    def mt5(self) -> dict[str, float]:
        """What mT5 calls them: as many layers on either side, in feed-forward layers 8/3 of the
        width."""
        named = {"num_layers": self.layers, "num_decoder_layers": self.layers}
        named |= {"d_model": self.width, "num_heads": self.heads, "d_ff": 8 * self.width // 3}
        return {**named, "d_kv": self.width // self.heads, "initializer_factor": 1.0}


SIZES = {
    "small": Size(4, 32, 4, 300, (48, 16), 0.2),
    "base": Size(12, 768, 12, 4_000, (3_072, 1_024), 0.04),
    "large": Size(24, 1_024, 16, 4_000, (3_072, 1_024), 0.04),
}
# COMET's classes as released: with a reference, without one, CometKiwi, xCOMET.
COMET = {
    "comet": ("regression_metric", {}),
    "comet-qe": ("referenceless_regression_metric", {}),
    "cometkiwi": (
        "unified_metric",
        {"word_level_training": False, "input_segments": ["mt", "src"]},
    ),
    "xcomet": ("xcomet_metric", {}),
}


def build(folder: Path, size: Size, texts: Sequence[str], names: Iterable[str]) -> None:
    """Make those of ``names`` that are not in ``folder`` yet, and the encoders that they need."""
    sizes = {"positions": 514, **size.settings}
    makers: dict[str, Callable[[Path], object]] = {
        "bert": lambda path: small.bert(path, texts, size.layers, **sizes),
        "xlmr": lambda path: small.xlm_roberta(
            path, texts, size.layers, pieces=size.pieces, **sizes
        ),
        "gpt2": lambda path: small.gpt2_with_head(path, texts, positions=512, **size.gpt2),
        "bleurt": lambda path: small.bleurt(path, texts, size.layers, size.pieces, **size.settings),
        "sentinel": lambda path: small.sentinel(path, folder / "xlmr", hidden=size.estimator),
        "sentinel.json": lambda path: path.write_text(json.dumps(_line(folder / "xlmr", size))),
        "metricx": lambda path: small.metricx(path, shard="1GB", **size.mt5),
        "mt5": lambda path: small.mt5_tokenizer(path, texts),
        "bart": lambda path: small.bart_with_head(path, texts, size.spread, 512, **size.bart),
        "trained": lambda path: _trained(path, folder / "xlmr", size.layer),
        "head.json": lambda path: path.write_text(json.dumps(_head(folder / "xlmr", size.layer))),
        **dict.fromkeys(COMET, lambda path: _comet(path, folder / "xlmr", size)),
    }
    for name in ["xlmr", *names]:
        if not (folder / name).exists():
            makers[name](folder / name)


def _comet(folder: Path, encoder: Path, size: Size) -> None:
    kind, changes = COMET[folder.name]
    layer = {} if "regression" in kind else {"word_layer": size.layers}
    small.comet(folder, encoder, kind, hidden_sizes=list(size.estimator), **layer, **changes)


def _line(encoder: Path, size: Size) -> dict[str, object]:
    """A sentinel of outputs, as training writes it."""
    rng = Random(6)
    line = {
        "mean": [0.0] * size.width,
        "scale": [1.0] * size.width,
        "weights": [rng.gauss(0, 1) for _ in range(size.width)],
        "intercept": 0.0,
    }
    stored = {"reads": "output", "encoder": fingerprint(encoder), "fitted_on": "nothing"}
    return stored | {"lines": [line], "fold_of": {}}


def _trained(folder: Path, encoder: Path, layer: int) -> None:
    """An encoder as training leaves it."""
    shutil.copytree(encoder, folder)
    (folder / "meta.json").write_text(json.dumps({"layer": layer}))


def _head(encoder: Path, layer: int) -> dict[str, object]:
    """A head on an encoder, as training writes it; all features weigh the same."""
    names = refreeeval.feature_names([layer])
    ones = [1.0] * len(names)
    return {
        "layers": [layer],
        "features": names,
        "mean": [0.0] * len(names),
        "scale": ones,
        "weights": ones,
        "intercept": 0.0,
        "encoder": fingerprint(encoder),
        "fitted_on": "nothing",
    }


def make_inputs(n_pairs: int) -> list[SegmentInput]:
    """Outputs of four systems: made-up words, lengths of news, the same in every process."""
    rng = Random(5)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(2_000)]
    inputs = []
    for _ in range(-(-n_pairs // SYSTEMS)):
        source, reference = _sentence(rng, words), _sentence(rng, words)
        inputs += [
            SegmentInput(source, _changed(rng, words, reference), (reference,))
            for _ in range(SYSTEMS)
        ]
    return inputs[:n_pairs]


def texts_of(inputs: Sequence[SegmentInput]) -> list[str]:
    """Every text, for vocabularies."""
    return [text for each in inputs for text in (each.source, each.hypothesis, *each.references)]


def _sentence(rng: Random, words: Sequence[str]) -> str:
    return " ".join(rng.choices(words, k=min(80, 1 + int(rng.lognormvariate(3, 0.5)))))


def _changed(rng: Random, words: Sequence[str], text: str) -> str:
    """A system's output: every third word of the reference is another one."""
    kept = [word if rng.random() < 2 / 3 else rng.choice(words) for word in text.split()]
    return " ".join(kept)
