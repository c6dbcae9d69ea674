"""Reference-free metrics on one encoder: all together against each alone, same run.

    OMP_NUM_THREADS=1 python -m benchmarks.metrics.reference_free [--segments 60]
        [--data ../shared/data]

The token encoder is a 12-layer BERT of width 256 with random weights, used at layer 9; the
sentence encoder of SentSim is a small one. Texts are four systems of newstest2017 zh-en with their
sources. CPU seconds, so that other work on the machine counts little. Exit status 1 where all
together cost more than 1.3 times the dearest alone, or where more than 1.2 tokens are computed
for each real one.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from benchmarks.gpu import small
from benchmarks.metrics.lexical import read
from extensions.neural.encoding import encoders, token_vectors
from metaeval.repeats import refuse_repeats
from metrics.base import Metric, SegmentInput
from tests.extensions.neural.reference_free import make

SYSTEMS, LAYER, REPEATS = 4, 9, 3
TOGETHER_BOUND, PADDING_BOUND = 1.3, 1.2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=60)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = refuse_repeats(parser).parse_args()
    inputs = load(options.data / "wmt17" / "zh-en", options.segments)
    texts = [text for each in inputs for text in (each.source, each.hypothesis)]
    with tempfile.TemporaryDirectory() as folder:
        encoder = build(Path(folder) / "token", texts)
        sentence = str(small.bert(Path(folder) / "sentence", texts, layers=2))
        token = {"checkpoint": encoder, "layer": LAYER}
        metrics = {
            "XBERTScore": make("xbertscore", **token),
            "YiSi-2, n = 3": make("yisi", **token),
            "YiSi-2, n = 1": make("yisi", **token, order=1),
            "SentSim": make("sentsim", checkpoint=sentence, encoder=encoder, layer=LAYER),
        }
        alone = {name: seconds([metric], inputs) for name, metric in metrics.items()}
        together = seconds(list(metrics.values()), inputs)
        padding = padded(encoder, texts)
    for name, value in alone.items():
        print(f"{name} alone: {value:.2f} s")
    ratio = together / max(alone.values())
    print(f"all together: {together:.2f} s, {ratio:.2f} × the dearest (bound {TOGETHER_BOUND})")
    print(f"tokens computed per real token: {padding:.2f} (bound {PADDING_BOUND})")
    return int(ratio > TOGETHER_BOUND or padding > PADDING_BOUND)


def load(folder: Path, segments: int) -> list[SegmentInput]:
    """The first segments under the first systems by name."""
    sources = {row["sid"]: row["source"] for row in read(folder, "segments")[:segments]}
    rows = [row for row in read(folder, "outputs") if row["sid"] in sources]
    systems = sorted({row["system"] for row in rows})[:SYSTEMS]
    return [
        SegmentInput(sources[row["sid"]], row["output"], ())
        for row in rows
        if row["system"] in systems
    ]


def build(folder: Path, texts: Sequence[str]) -> str:
    """A tokenizer of these texts before a BERT of genuine depth."""
    small.bert(folder, texts, layers=1)
    vocabulary = len((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=256,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=1024,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return str(folder)


def seconds(metrics: Sequence[Metric], inputs: Sequence[SegmentInput]) -> float:
    """CPU seconds of the fastest of some runs, nothing being kept from before."""
    times = []
    for _ in range(REPEATS):
        token_vectors.forget()
        began = time.process_time()
        for metric in metrics:
            metric.score(inputs)
        times.append(time.process_time() - began)
    return min(times)


def padded(checkpoint: str, texts: Sequence[str]) -> float:
    """Tokens that the batches of these texts hold, for each real token."""
    encoder, seen = encoders.get(checkpoint), []
    encode = encoder.hidden_states
    encoder.hidden_states = lambda ids: (seen.append(ids), encode(ids))[1]  # type: ignore[method-assign]
    token_vectors.forget()
    token_vectors.embed(encoder, texts, [LAYER])
    computed = sum(len(batch) * max(map(len, batch)) for batch in seen)
    return computed / sum(len(ids) for batch in seen for ids in batch)


if __name__ == "__main__":
    raise SystemExit(main())
