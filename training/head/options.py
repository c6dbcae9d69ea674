"""What can be set of a supervised head. No torch: the page reads it."""

from collections.abc import Mapping
from typing import Any

from extensions.neural.sentinels.options import LENGTHS, OUTPUT, READS
from metrics.options import Option

OPTIONS = (
    Option("campaign", "Campaign", "text", help="Its slug: whose judgments are learned from."),
    Option(
        "encoder",
        "Encoder",
        "checkpoint",
        "xlm-roberta-base",
        help="Stays as it is; a ReFreeEval training's directory works well.",
    ),
    Option("layers", "Layers", "text", "9", help="Numbers and commas, such as 6,9."),
    Option(
        "held_out",
        "Share held out",
        "number",
        0.3,
        minimum=0.1,
        maximum=0.5,
        help="Of source texts; what is reported comes from these.",
    ),
    Option("seed", "Seed", "integer", 42, minimum=0),
)

SENTINEL = (
    Option("campaign", "Campaign", "text", help="Its slug: whose judgments are learned from."),
    Option("reads", "Reads", "choice", OUTPUT, choices=READS, help="And nothing besides."),
    Option(
        "encoder",
        "Encoder",
        "checkpoint",
        "xlm-roberta-base",
        help="Stays as it is; a text is its sentence vector. Not used for lengths.",
    ),
    Option("seed", "Seed", "integer", 42, minimum=0),
)


def sentinel_checkpoints(chosen: Mapping[str, Any]) -> list[str]:
    """Return the encoder that a sentinel needs, if any."""
    return [] if chosen["reads"] == LENGTHS else [str(chosen["encoder"])]


def conflicts(chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with the layers, by the name of their setting."""
    parts = [part.strip() for part in str(chosen["layers"]).split(",")]
    if all(part.isdecimal() for part in parts):
        return {}
    return {"layers": f"expected numbers and commas, such as 6,9, not {chosen['layers']!r}."}
