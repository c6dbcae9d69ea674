"""COMET of ten systems on the same sources and references against its own predict, same run.

    OMP_NUM_THREADS=1 python -m benchmarks.metrics.comet [--segments 100] [--data ../shared/data]

The checkpoints are a regression metric and a ranker over a 6-layer XLM-RoBERTa of width 256 with
random weights, built here; texts are those of newstest2017 zh-en. Exit status 1 where a score
differs by 1e-5 or ours is not twice as fast.
"""

import argparse
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from comet import load_from_checkpoint

from benchmarks.gpu import small
from benchmarks.metrics.lexical import read
from benchmarks.ratios import row, status, timed
from extensions.neural.checkpoints import options as comet
from extensions.neural.checkpoints.comet import Comet
from metaeval.messages import message
from metaeval.repeats import refuse_repeats
from metrics.base import SegmentInput

SYSTEMS = 10
KINDS = ("regression_metric", "ranking_metric")
SIZES = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=100)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = refuse_repeats(parser).parse_args()
    inputs = ten_systems(options.data / "wmt17" / "zh-en", options.segments)
    with tempfile.TemporaryDirectory() as folder:
        encoder = build_encoder(Path(folder), inputs)
        sizes = {"hidden_sizes": [512, 256]}
        made = {kind: small.comet(Path(folder) / kind, encoder, kind, **sizes) for kind in KINDS}
        return status([compare(inputs, *each) for each in made.items()])


def build_encoder(folder: Path, inputs: list[SegmentInput]) -> Path:
    """An encoder that knows the texts' alphabet."""
    texts = [text for each in inputs for text in (each.source, each.hypothesis)]
    return small.xlm_roberta(
        folder / "encoder", texts, layers=6, positions=514, pieces=4_000, **SIZES
    )


def compare(inputs: list[SegmentInput], kind: str, checkpoint: Path) -> bool:
    """Time both; True where the bound is kept."""
    info = comet.comet_info(
        *("bench", "Bench", str(checkpoint)),
        description=message("bench.none", "None."),
        citation="",
        needs_reference=True,
    )
    metric = Comet(info, source_language="zh", target_language="en")
    ours, seconds = timed(lambda: metric.score(inputs))
    model = load_from_checkpoint(str(checkpoint / "checkpoints" / "model.ckpt"))
    samples = [
        {"src": each.source, "mt": each.hypothesis, "ref": each.references[0]} for each in inputs
    ]
    theirs, whole = timed(
        lambda: model.predict(samples, batch_size=16, gpus=0, num_workers=0, progress_bar=False)
    )
    if np.abs(ours[:, 0] - theirs["scores"]).max() >= 1e-5:
        sys.exit(f"{kind}: the scores differ from comet's")
    job = f"COMET, {kind.removesuffix('_metric')}, {len(inputs):,} outputs of {SYSTEMS} systems"
    return row(job, "comet's `predict`", (seconds, whole), bound=2, limit="forward pass")


def ten_systems(folder: Path, n_segments: int) -> list[SegmentInput]:
    """Ten systems on the first segments."""
    segments = {row["sid"]: row for row in read(folder, "segments")[:n_segments]}
    outputs = [row for row in read(folder, "outputs") if row["sid"] in segments]
    systems = sorted({row["system"] for row in outputs})[:SYSTEMS]
    return [
        SegmentInput(
            segments[row["sid"]]["source"], row["output"], (segments[row["sid"]]["reference"],)
        )
        for row in outputs
        if row["system"] in systems
    ]


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    warnings.simplefilter("ignore")
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    sys.exit(main())
