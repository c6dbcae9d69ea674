"""Every length control on a task that only the length decides, and the cost of decoding with it.

    OMP_NUM_THREADS=1 python -m benchmarks.training.translation.controls [--steps 1200]
        [--only NAME …]

The task: the first words of a text in capitals, as many as wanted. Deviation and exact outputs are
of free decoding, greedy, on 400 texts and lengths that nobody has seen. Times are processor
seconds a piece of beam search (4 beams) with the control, over those of a plain model's in the
same run with the same lengths forced, so that both write as many pieces; medians of `--repeats`.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from statistics import median

import torch

from metaeval.repeats import refuse_repeats
from training.contract import Corpus, Work
from training.translation.decoding import checkpoints
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.methods import Output, decode
from training.translation.learning import job
from training.translation.options import OPTIONS
from training.translation.requests import CONTROL, EXACT, Request

WORDS = ("ka", "to", "mi", "re", "su", "no", "la", "pe")
SMALL = {
    "layers": 1, "width": 64, "heads": 4, "inner": 128, "dropout": 0.0, "smoothing": 0.0,
    "pieces": "unigram", "vocabulary": 60, "imbalance": 0.0, "held_out": 200, "cap": 20,
    "batch": 64, "rate": 3e-3, "warmup": 100,
}  # fmt: skip
CONTROLS = {
    "plain": ("plain", "int"),
    "target embedding, int": ("target-embedding", "int"),
    "target embedding, encoding": ("target-embedding", "encoding"),
    "target embedding, forward-backward": ("target-embedding", "forward-backward"),
    "length token": ("length-token", "int"),
    "length difference": ("length-difference", "int"),
    "length ratio": ("length-ratio", "int"),
    "progress ratio": ("progress-ratio", "int"),
}


def texts(n: int, seed: int) -> list[list[str]]:
    """Random texts of 4 to 9 words."""
    drawn = random.Random(seed)
    return [drawn.choices(WORDS, k=drawn.randint(4, 9)) for _ in range(n)]


def train(name: str, folder: Path, steps: int) -> tuple[Checkpoint, float]:
    """Train a control; return its model and the processor seconds."""
    drawn = random.Random(1)
    pairs = {(" ".join(t), " ".join(t[: drawn.randint(1, len(t))]).upper()) for t in texts(4000, 1)}
    control, form = CONTROLS[name]
    chosen = {option.name: option.default for option in OPTIONS} | SMALL
    chosen |= {"control": control, "form": form, "steps": steps, "evaluate_every": steps // 4}
    corpus = Corpus("copying", "en", "de", sorted(pairs), "")
    began = time.process_time()
    outcome = job.run(Work(chosen, folder, [corpus]))
    seconds = time.process_time() - began
    return checkpoints.load(outcome.result["model"], "en", "de", "cpu"), seconds


def ask(method: str, beam: int) -> Request:
    return Request(method, Decimal("0.8"), beam=beam)


def mean_deviation(outputs: Sequence[Output], wanted: Sequence[int]) -> float:
    """Mean deviation from the wanted length in pieces."""
    each = [abs(own.pieces - n) / n for own, n in zip(outputs, wanted, strict=True)]
    return sum(each) / len(each)


def seconds_a_piece(
    model: Checkpoint, sources: list[str], wanted: list[int], repeats: int
) -> float:
    """Processor seconds a piece of a beam search that writes the wanted lengths."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        outputs = decode(model, sources, wanted, ask(EXACT, 4))
        found.append((time.process_time() - began) / sum(own.pieces + 1 for own in outputs))
    return median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", action="append", choices=list(CONTROLS))
    given = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    drawn = random.Random(5)
    asked = texts(400, 3)
    sources, wanted = [" ".join(t) for t in asked], [drawn.randint(1, len(t)) for t in asked]
    right = [" ".join(t[:n]).upper() for t, n in zip(asked, wanted, strict=True)]
    base = 0.0
    print(f"{'control':36} deviation  exact  time/plain  pieces/s  training s")
    with tempfile.TemporaryDirectory() as place:
        for name in dict.fromkeys(["plain", *(given.only or CONTROLS)]):
            model, seconds = train(name, Path(place) / name.replace(" ", "-"), given.steps)
            method = CONTROL if model.has_control else EXACT
            free = decode(model, sources, wanted, ask(method, 1))
            exact = sum(own.text == text for own, text in zip(free, right, strict=True)) / len(free)
            cost = seconds_a_piece(model, sources, wanted, given.repeats)
            base = base or cost
            deviation = f"{mean_deviation(free, wanted):9.4f}"
            length = f"{deviation}  {exact:5.3f}" if model.has_control else " " * 16
            print(
                f"{name:36} {length}  {cost / base:10.2f}  {1 / cost:8.0f}  {seconds:10.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
