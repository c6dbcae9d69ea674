"""BERTScore of all layers against bert-score and a plain forward pass, same run and checkpoint.

    OMP_NUM_THREADS=1 python -m benchmarks.metrics.bertscore [--segments 270]
        [--data ../shared/data]

The checkpoint is a 12-layer BERT of width 256 with random weights, built here. English are four
systems of newstest2017 de-en with their references; unsegmented Chinese are its zh-en sources
with machine translations of other texts, of about their length, in the place of four systems. Each
language runs in a process of its own. Exit status 1 where a value differs from bert-score by 1e-5
or a bound is missed.
"""

import argparse
import bisect
import contextlib
import io
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bert_score
import numpy as np
import torch

from benchmarks.gpu import small
from benchmarks.metrics.lexical import read
from benchmarks.ratios import row, timed
from extensions.neural.bertscore import options as bertscore
from extensions.neural.bertscore.scorer import BertScore
from extensions.neural.encoding import encoders
from metaeval.repeats import refuse_repeats
from metrics.base import MetricInfo, Scores, SegmentInput

SYSTEMS, LAYERS, PLAIN_BATCH = 4, 12, 64
SIZES = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}
# Times of others over ours: at least these; of a plain pass: ours over its at most that.
BOUNDS = {"en": {"layers": 6.0, "all": 1.3}, "zh": {"layers": 6.0, "all": 1.5}}
PLAIN_BOUND = 1.3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=270)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--language", choices=["en", "zh"])
    options = refuse_repeats(parser).parse_args()
    if options.language is None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.metrics.bertscore",
            *sys.argv[1:],
            "--language",
        ]
        return max(subprocess.run([*command, language]).returncode for language in BOUNDS)
    texts = {"en": english, "zh": chinese}[options.language]
    kept = compare(options.language, texts(options.data / "wmt17", options.segments))
    return 0 if kept else 1


def compare(language: str, inputs: list[SegmentInput]) -> bool:
    """Time all four on the same pairs; True where the bounds are kept."""
    hypotheses = [each.hypothesis for each in inputs]
    references = [each.references[0] for each in inputs]
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = str(
            small.bert(
                Path(folder) / "bert", hypotheses + references, LAYERS, positions=512, **SIZES
            )
        )
        metric = make(checkpoint)
        ours, seconds = timed(lambda: metric.score(inputs))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        _, plain = timed(lambda: forward(metric.encoder, hypotheses + references))
        theirs, whole = timed(lambda: official(checkpoint, hypotheses, references, LAYERS, True))
        peer_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        layers = sum(
            timed(lambda n=n: official(checkpoint, hypotheses, references, n, False))[1]
            for n in range(1, LAYERS + 1)
        )
    if np.abs(ours - theirs).max() >= 1e-5:
        sys.exit(f"{language}: the values differ from bert-score's")
    print(
        f"{language}: {len(set(hypotheses + references))} distinct texts, peak {peak:.0f} MiB, "
        f"bert-score's {peer_peak:.0f}; {seconds / plain:.2f} times a plain forward pass"
    )
    bounds, pairs = BOUNDS[language], f"{len(inputs):,} pairs ({language})"
    kept = (
        row(
            f"BERTScore, {LAYERS} layers {how}, {pairs}",
            "bert-score",
            (seconds, other),
            bound=bounds[kind],
            limit="forward pass",
        )
        for how, other, kind in (
            ("in one pass", whole, "all"),
            ("in a call each", layers, "layers"),
        )
    )
    return all([*kept, seconds / plain <= PLAIN_BOUND])


def make(checkpoint: str) -> BertScore:
    """The metric as an admin would configure it."""
    info: MetricInfo = bertscore.bertscore_info(
        "bench", "Bench", checkpoint, layers=LAYERS + 1, shown=("8-f",)
    )
    return BertScore(info, source_language="en", target_language="en")


@torch.inference_mode()
def forward(encoder: encoders.Encoder, texts: Sequence[str]) -> None:
    """Every distinct text through the encoder alone, by length, as anybody would write it."""
    distinct = sorted(set(texts), key=len)
    for start in range(0, len(distinct), PLAIN_BATCH):
        batch = distinct[start : start + PLAIN_BATCH]
        tokens = encoder.tokenizer(batch, padding=True, truncation=True, return_tensors="pt")
        encoder.model(**tokens)


def official(
    checkpoint: str, hypotheses: list[str], references: list[str], layer: int, all_layers: bool
) -> Scores:
    """(n, 3 × layers) of bert-score itself, with its default batch of 64."""
    with contextlib.redirect_stderr(io.StringIO()):
        values = bert_score.score(
            hypotheses,
            references,
            model_type=checkpoint,
            num_layers=layer,
            all_layers=all_layers,
            idf=False,
            device="cpu",
        )
    stacked = torch.stack(values, -1)  # (layers, n, 3) or (n, 3)
    if not all_layers:
        return stacked.numpy()
    return stacked.transpose(0, 1).reshape(len(hypotheses), -1).numpy()


def english(folder: Path, n_segments: int) -> list[SegmentInput]:
    """Four systems on the first segments of de-en."""
    rows = read(folder / "de-en", "segments")[:n_segments]
    references = {row["sid"]: row["reference"] for row in rows}
    outputs = read(folder / "de-en", "outputs")
    systems = sorted({row["system"] for row in outputs})[:SYSTEMS]
    return [
        SegmentInput("", row["output"], (references[row["sid"]],))
        for row in outputs
        if row["system"] in systems and row["sid"] in references
    ]


def chinese(folder: Path, n_segments: int) -> list[SegmentInput]:
    """Chinese sentences of zh-en, each against machine translations of about its length."""
    rows = read(folder / "zh-en", "segments")[:n_segments]
    references = sorted((row["source"] for row in rows), key=len)
    outputs = [row["target"] for row in read(folder.parent / "parallel", "en-zh.mlqe-pe")]
    chosen = sorted(dict.fromkeys(outputs), key=len)
    lengths = [len(text) for text in chosen]
    pairs = []
    for reference in references:
        place = min(bisect.bisect_left(lengths, len(reference)), len(chosen) - SYSTEMS)
        found = chosen[place : place + SYSTEMS]
        pairs += [SegmentInput("", text, (reference,)) for text in found]
        del chosen[place : place + SYSTEMS], lengths[place : place + SYSTEMS]
    return random.Random(1).sample(pairs, len(pairs))


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    sys.exit(main())
