"""A small model on 8,000 everyday sentences: does the loss fall, are lengths kept?

    OMP_NUM_THREADS=1 TOUCHSTONE_DATA=… python -m benchmarks.training.translation.tatoeba
        [--steps 1500]

English to Chinese, `parallel/en-zh.tatoeba.tsv`, Chinese by character. Plain, target embedding and
length token are trained alike; then held-out sources are translated to 80% and 50% of the
reference's pieces: freely by the controls, by force, by a reward and n-best by the plain model.
Quality is chrF against the full reference, over outputs within 10% of the wanted length and over
all. This is a small model on little text: the figures say that the way works, not how well
such systems translate.
"""

import argparse
import os
import random
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics.chrf import CHRF

from metaeval.repeats import refuse_repeats
from training.contract import Corpus, Work
from training.parallel.reading import clean, read_pairs
from training.translation.decoding import checkpoints
from training.translation.decoding.methods import decode
from training.translation.learning import job
from training.translation.lengths import wanted as share_of
from training.translation.options import OPTIONS
from training.translation.requests import CONTROL, EXACT, N_BEST, PLAIN, SOFT, Request

SMALL = {
    "layers": 2, "width": 128, "heads": 4, "inner": 256, "vocabulary": 2000, "held_out": 500,
    "batch": 64, "rate": 2e-3, "warmup": 300, "imbalance": 0.0,
}  # fmt: skip
METHODS = {"plain": (PLAIN, EXACT, SOFT, N_BEST), "target-embedding": (CONTROL, EXACT),
           "length-token": (CONTROL, EXACT)}  # fmt: skip


def pairs() -> list[tuple[str, str]]:
    """The cleaned pairs, each source and each target once."""
    path = Path(os.environ["TOUCHSTONE_DATA"]) / "parallel/en-zh.tatoeba.tsv"
    found, _ = clean(read_pairs(path.name, path.read_bytes()))
    return found


def train(control: str, steps: int, texts: list[tuple[str, str]], folder: Path) -> dict[str, Any]:
    chosen = {option.name: option.default for option in OPTIONS} | SMALL
    chosen |= {"control": control, "steps": steps, "evaluate_every": max(1, steps // 5)}
    corpus = Corpus("tatoeba", "en", "zh", texts, "")
    began = time.process_time()
    found = job.run(Work(chosen, folder, [corpus])).result
    rows = [f"{row['step']}: {row['held_out_loss']:.2f}" for row in found["curve"]]
    spent = time.process_time() - began
    print(f"{control}: {found['parameters']:,} weights, {spent:.0f} s")
    print(f"  held-out loss {', '.join(rows)}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--texts", type=int, default=200)
    given = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    every = pairs()
    held = random.Random(11).sample(sorted({source for source, _ in every}), given.texts)
    kept_out = set(held)
    texts = [pair for pair in every if pair[0] not in kept_out]
    tests = list({s: (s, t) for s, t in every if s in kept_out}.values())
    with tempfile.TemporaryDirectory() as place:
        for control, methods in METHODS.items():
            found = train(control, given.steps, texts, Path(place) / control)
            for method in methods:
                for share in ("0.8", "0.5") if method != PLAIN else ("1",):
                    report(found["model"], tests, method, share)


def report(folder: str, tests: list[tuple[str, str]], method: str, share: str) -> None:
    model = checkpoints.load(folder, "en", "zh", "cpu")
    lengths = [share_of(float(share), len(model.pieces(target))) for _, target in tests]
    asked: list[int | None] = [None if method == PLAIN else n for n in lengths]
    request = Request(method, Decimal(share))
    outputs = decode(model, [source for source, _ in tests], asked, request)
    away = [abs(own.pieces - n) / n for own, n in zip(outputs, lengths, strict=True)]
    near = [n for n, each in enumerate(away) if each <= 0.1]
    chrf = CHRF(word_order=0)

    def quality(places: list[int]) -> float:
        own, right = [outputs[n].text for n in places], [tests[n][1] for n in places]
        return float(chrf.corpus_score(own, [right]).score) if places else float("nan")

    whole = list(range(len(tests)))
    print(f"  {method:8} {share:>4}  deviation {sum(away) / len(away):.4f}  "
          f"within 10% {len(near) / len(tests):.2f}  chrF there {quality(near):.1f}, "
          f"of all {quality(whole):.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
