"""What can be set of a translation model's training. No torch: pages and workers read it."""

from collections.abc import Mapping
from typing import Any

from metrics.options import Option

KIND = "mt"
PLAIN, LENGTH_TOKEN, TARGET_EMBEDDING = "plain", "length-token", "target-embedding"
CONTROLS = (
    PLAIN, TARGET_EMBEDDING, LENGTH_TOKEN, "length-difference", "length-ratio", "progress-ratio",
)  # fmt: skip
FORMS = ("int", "encoding", "forward-backward")

OPTIONS = (
    Option(
        "control",
        "Length control",
        "choice",
        PLAIN,
        choices=CONTROLS,
        help="How the decoder is told the length: not at all, by the number of steps left "
        "(target embedding), by a first token, or by positions that count towards the end.",
    ),
    Option(
        "form",
        "Form of the target embedding",
        "choice",
        "int",
        choices=FORMS,
        help="A learned table, sinusoids in place of positions, or beside them.",
        is_rare=True,
    ),
    Option("cap", "Longest length told apart", "integer", 100, minimum=2, maximum=8191),
    Option("layers", "Layers of each side", "integer", 6, minimum=1, maximum=24),
    Option("width", "Width", "integer", 512, minimum=8, maximum=4096),
    Option("heads", "Attention heads", "integer", 8, minimum=1, maximum=64),
    Option("inner", "Width of the feed-forward layers", "integer", 2048, minimum=8),
    Option("dropout", "Dropout", "number", 0.1, minimum=0, maximum=0.9),
    Option("pieces", "Pieces", "choice", "bpe", choices=("bpe", "unigram")),
    Option(
        "vocabulary",
        "Size of the vocabulary",
        "integer",
        8000,
        minimum=20,
        maximum=128_000,
        help="Pieces of both languages together; Han characters are pieces of their own.",
    ),
    Option("longest", "Most pieces a side", "integer", 128, minimum=2, maximum=1000),
    Option(
        "imbalance",
        "Greatest ratio of both lengths",
        "number",
        1.5,
        minimum=0,
        help="Pairs beyond it are left out; 0 leaves none out.",
    ),
    Option("reverse", "Translate the other way", "boolean", False),
    Option("held_out", "Pairs held out", "integer", 500, minimum=2, maximum=20_000),
    Option("steps", "Updates", "integer", 100_000, minimum=1),
    Option("batch", "Pairs in a batch", "integer", 64, minimum=1, maximum=4096),
    Option("accumulate", "Batches an update", "integer", 1, minimum=1, maximum=256),
    Option("rate", "Highest learning rate", "number", 7e-4, minimum=1e-8, maximum=1),
    Option("warmup", "Updates of warm-up", "integer", 4000, minimum=0),
    Option("smoothing", "Label smoothing", "number", 0.1, minimum=0, maximum=0.9),
    Option("evaluate_every", "Updates between evaluations", "integer", 1000, minimum=1),
    Option(
        "precision",
        "Precision",
        "choice",
        "auto",
        choices=("auto", "float32", "bfloat16"),
        help="auto: bfloat16 where there is a GPU that has it.",
    ),
    Option("seed", "Seed", "integer", 42, minimum=0, maximum=2**31 - 1),
)
MAIN = ("control", "layers", "width", "vocabulary", "reverse", "steps", "batch", "seed")


def conflicts(chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return what does not go together, by the name of the setting."""
    found = {}
    if chosen["width"] % chosen["heads"]:
        found["heads"] = f"a width of {chosen['width']} cannot be split into that many."
    if chosen["width"] % 2:
        found["width"] = "sinusoids need an even width."
    if chosen["form"] != "int" and chosen["control"] != TARGET_EMBEDDING:
        found["form"] = f"it belongs to the control {TARGET_EMBEDDING}."
    return found
