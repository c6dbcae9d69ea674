"""A task that a small model learns in seconds: the first words of a text in capitals.

How many follows from nothing but the length that is wanted, so whoever is not told it must guess.
"""

import random
from pathlib import Path
from typing import Any

from training.contract import Corpus, Work
from training.translation.learning import marian, vocabulary
from training.translation.options import OPTIONS

WORDS = ("ka", "to", "mi", "re", "su", "no", "la", "pe")
N_WORDS = 3, 6
SMALL = {
    "layers": 1,
    "width": 64,
    "heads": 4,
    "inner": 128,
    "dropout": 0.0,
    "smoothing": 0.0,
    "pieces": "unigram",
    "vocabulary": 60,
    "imbalance": 0.0,
    "held_out": 200,
    "cap": 20,
    "batch": 64,
    "rate": 2e-3,
    "warmup": 100,
    "seed": 42,
}


def pairs(n: int, seed: int = 1) -> list[tuple[str, str]]:
    drawn = random.Random(seed)
    found = []
    for _ in range(n):
        text = drawn.choices(WORDS, k=drawn.randint(*N_WORDS))
        kept = text[: drawn.randint(1, len(text))]
        found.append((" ".join(text), " ".join(kept).upper()))
    return list(dict.fromkeys(found))


def shorten(text: str, length: int) -> str:
    return " ".join(text.split()[:length]).upper()


def work(folder: Path, texts: list[tuple[str, str]], **options: Any) -> Work:
    chosen = {option.name: option.default for option in OPTIONS} | SMALL | options
    chosen.setdefault("evaluate_every", chosen["steps"])
    return Work(chosen, folder, [Corpus("copying", "en", "de", texts, "sha")])


def untrained(folder: Path, control: str = "plain") -> str:
    """A model as a training leaves it, that has learned nothing."""
    options = {option.name: option.default for option in OPTIONS} | SMALL | {"control": control}
    folder.mkdir(parents=True)
    made = vocabulary.train([side for pair in pairs(200) for side in pair], "unigram", 60)
    n_lengths = options["cap"] if control == "length-token" else 0
    vocabulary.write(made, folder, ("en", "de"), n_lengths)
    tokenizer = vocabulary.load(folder)
    special = {"end": tokenizer.eos_token_id, "padding": tokenizer.pad_token_id}
    marian.build(options, len(tokenizer), special).save_pretrained(folder)
    return str(folder)
