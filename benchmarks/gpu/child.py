"""One case in a process of its own: equality, throughput and memory in every precision.

Called by :mod:`benchmarks.gpu.__main__`; the result is written as JSON. With ``--fault`` the
process brings about an error from which its device does not recover, and must end by it.
"""

import argparse
import gc
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
import transformers

from benchmarks.gpu import cases, checkpoints, peers
from benchmarks.gpu.cases import Case
from extensions.neural.encoding import encoders, token_vectors
from extensions.neural.encoding.precision import computing
from metaeval.reasons import reason_of
from metaeval.repeats import refuse_repeats
from metrics.base import Metric, MetricError, Scores, SegmentInput

PRECISIONS = ("float32", "tf32", "bfloat16", "int8")
# Pairs whose scores are compared; they also warm the device up.
COMPARED = 32
PEER_BATCH = 64


@dataclass
class Result:
    """One row. Differences are the largest from ``against`` in float32, in standard deviations of
    its scores: ours, and its own in this precision (None where it has none)."""

    precision: str
    device: str
    against: str = ""
    difference: float | None = None
    own_difference: float | None = None
    pairs_per_second: float | None = None
    peer_pairs_per_second: float | None = None
    peak_mib: float | None = None
    note: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("case")
    parser.add_argument("--size", choices=list(checkpoints.SIZES), required=True)
    parser.add_argument("--pairs", type=int, required=True)
    parser.add_argument("--fault", action="store_true")
    options = refuse_repeats(parser).parse_args()
    warnings.simplefilter("ignore")
    size = checkpoints.SIZES[options.size]
    [case] = [each for each in cases.cases(size) if each.name == options.case]
    inputs = checkpoints.make_inputs(COMPARED + options.pairs)
    if options.fault:
        fail(case, options.folder, inputs[:COMPARED])
    rows = [asdict(row) for row in measure(case, options.folder, inputs)]
    (options.folder / f"{case.name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return 0


def fail(case: Case, folder: Path, inputs: Sequence[SegmentInput]) -> None:
    """Score, break the device for this process, and score again, which must not succeed."""
    metric = cases.make(case, folder, "float32")
    metric.score(inputs)
    if encoders.best_device() == "cpu":
        os.abort()  # a processor has no error of that kind: the process ends as if it had
    table = torch.zeros(2, device="cuda")
    try:
        print(table[torch.tensor([7], device="cuda")].sum().item())
    except RuntimeError as error:
        print(f"brought about: {error}", file=sys.stderr)
    forget(metric)
    metric.score(inputs)


def measure(case: Case, folder: Path, inputs: Sequence[SegmentInput]) -> list[Result]:
    """A row for each precision that the device has."""
    device = encoders.best_device()
    try:
        peer = peers.make(case, folder, device)
        against = case.peer and "its package"
    except ModuleNotFoundError as error:
        peer, against = None, f"{error.name} is not installed: "
    if peer is None:
        against += "ours on the processor"
        expected = on_processor(case, folder, inputs[:COMPARED])
    with (folder / "turn").open("w") as turn:
        flock(turn, LOCK_EX)  # until it is closed, no other process measures
        if peer is not None:
            expected = exact(peer, device, inputs[:COMPARED])
        return [
            measured(
                Result(precision, name_of(device), against), case, folder, inputs, expected, peer
            )
            for precision in PRECISIONS
        ]


def measured(
    row: Result,
    case: Case,
    folder: Path,
    inputs: Sequence[SegmentInput],
    expected: Scores,
    peer: peers.Peer | None,
) -> Result:
    """A row with its numbers, or with a note why there are none."""
    try:
        fill(row, case, folder, inputs, expected)
        if peer is not None and row.precision != "int8":  # none of the packages has that
            compare(row, peer, encoders.best_device(), inputs, expected)
    except MetricError as error:
        row.note = error.message.text.partition(". ")[0]
    except Exception as error:  # the other rows are to be measured
        row.note = str(reason_of(error))
    return row


def name_of(device: str) -> str:
    """The device and the releases that the numbers are of."""
    name = "CPU" if device == "cpu" else torch.cuda.get_device_name()
    return f"{name}, torch {torch.__version__}, transformers {transformers.__version__}"


def on_processor(case: Case, folder: Path, inputs: Sequence[SegmentInput]) -> Scores:
    """Our own scores in float32 without a GPU, which tests compare with other code."""
    with patch.object(encoders, "best_device", return_value="cpu"):
        metric = cases.make(case, folder, "float32")
        scores = metric.score(inputs)[:, list(case.columns)]
    forget(metric)
    encoders.forget()
    return scores


def exact(peer: peers.Peer, device: str, inputs: Sequence[SegmentInput]) -> Scores:
    with computing(device, "float32"):
        return peer(inputs, 1)


def fill(
    row: Result, case: Case, folder: Path, inputs: Sequence[SegmentInput], expected: Scores
) -> None:
    """Our part of a row: the difference, pairs a second with nothing kept, and peak memory."""
    is_gpu = encoders.best_device() != "cpu"
    encoders.forget()
    gc.collect()
    if is_gpu:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    metric = cases.make(case, folder, row.precision)
    scores = metric.score(inputs[:COMPARED])[:, list(case.columns)]
    row.difference = distance(scores, expected)
    forget(metric)
    rest = inputs[COMPARED:]
    row.pairs_per_second = len(rest) / seconds(lambda: metric.score(rest))
    if is_gpu:
        row.peak_mib = (torch.cuda.max_memory_allocated() - before) / 2**20
    else:
        row.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def compare(
    row: Result,
    peer: peers.Peer,
    device: str,
    inputs: Sequence[SegmentInput],
    expected: Scores,
) -> None:
    """The package's part of a row, in the same precision and with its own batches."""
    with computing(device, row.precision):
        row.own_difference = distance(peer(inputs[:COMPARED], 1), expected)
        rest = inputs[COMPARED:]
        row.peer_pairs_per_second = len(rest) / seconds(lambda: peer(rest, PEER_BATCH))


def distance(found: Scores, expected: Scores) -> float:
    """The largest difference, in standard deviations of its column."""
    return float((np.abs(found - expected) / expected.std(axis=0)).max())


def seconds(work: Callable[[], object]) -> float:
    """Elapsed, until the device has done what it was given."""
    start = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def forget(metric: Metric) -> None:
    """Drop the ids and vectors of texts; the model stays."""
    token_vectors.forget()
    if pieces := getattr(getattr(metric, "encoder", None), "pieces", None):
        pieces.forget()
    if vectors := getattr(getattr(metric, "loaded", None), "vectors", None):
        vectors.clear()


if __name__ == "__main__":
    sys.exit(main())
