"""Free translation by CTranslate2 for the same by transformers, and how many outputs are the same.

    OMP_NUM_THREADS=1 python -m benchmarks.training.translation.served [--steps 500]

A plain model and one with length tokens that learned the copying task of `controls`; 400 texts.
"""

import argparse
import random
import tempfile
from functools import partial
from pathlib import Path

import torch

from benchmarks.ratios import row, timed
from benchmarks.training.translation.controls import texts, train
from metaeval.repeats import refuse_repeats
from training.translation.decoding import methods
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.generating import Beam, Found, Row, search


def rows_of(model: Checkpoint) -> list[Row]:
    """Return 400 texts; models that take a length get one between 1 and the number of words."""
    drawn = random.Random(5)
    asked = [(text, drawn.randint(1, len(text))) for text in texts(400, 3)]
    return [
        Row(tuple(model.read(" ".join(text))), n if model.has_control else None)
        for text, n in asked
    ]


def transformers(model: Checkpoint, rows: list[Row], beam: Beam) -> list[Found]:
    return [each[0] for each in search(model, rows, beam)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=500)
    given = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        for name in ("plain", "length token"):
            model, _ = train(name, Path(place) / name.replace(" ", "-"), given.steps)
            rows = rows_of(model)
            methods.best(model, rows[:1], Beam(1))
            for beam in (1, 4):
                known, slow = timed(partial(transformers, model, rows, Beam(beam)))
                found, fast = timed(partial(methods.best, model, rows, Beam(beam)))
                same = sum(a.pieces == b.pieces for a, b in zip(known, found, strict=True))
                job = f"translation, {name}, {beam} beams, {same} of {len(rows)} equal"
                row(job, "transformers", (fast, slow), bound=None, limit="forward pass")


if __name__ == "__main__":
    main()
