"""Settings of curves over the number of pairs. Imports neither Django nor torch."""

from collections.abc import Mapping
from typing import Any

from extensions.neural.mover.mapping import KINDS
from extensions.neural.mover.options import FAMILY
from metaeval.messages import Message, message
from metrics.options import Option
from training.contract import SEED
from training.head import options as head
from training.remap import options as remap

KIND = "pair-curve"
# Always shown in the form; the others are folded.
MAIN = ("campaign", "checkpoint", "layer", "projections", "sizes", "seed")
MOST_SIZES = 20


def _shared(options: tuple[Option, ...], *names: str) -> list[Option]:
    """Return options that mean the same here."""
    return [option for option in options if option.name in names]


OPTIONS = (
    Option(
        "campaign",
        message("head.campaign", "Campaign"),
        "text",
        help=message(
            "pair-curve.campaign-help",
            "The short name of the campaign with the human scores. Its outputs are scored.",
        ),
    ),
    *_shared(remap.OPTIONS, "checkpoint", "layer"),
    Option(
        "projections",
        message("pair-curve.projections", "Projections"),
        "text",
        "clp,umd",
        help=message(
            "pair-curve.projections-help",
            "Separated by commas: clp, clp-unconstrained, umd, umd-paper.",
        ),
    ),
    Option(
        "sizes",
        message("pair-curve.sizes", "Numbers of sentence pairs"),
        "text",
        "250 500 1000 2000 5000 10000",
        help=message(
            "pair-curve.sizes-help",
            "Separated by spaces. Each is a part of the next one. Numbers beyond the parallel text "
            "become all of it.",
        ),
    ),
    *_shared(remap.OPTIONS, "units"),
    *_shared(FAMILY.options, "n"),
    *_shared(remap.OPTIONS, "definition", "language-model", "reverse", "alignments"),
    Option("seed", SEED, "integer", 42, minimum=0),
)


def sizes_in(text: str) -> list[int]:
    """Return the numbers in the order of size; ValueError if one is not a number above 0."""
    found = sorted({int(part) for part in text.replace(",", " ").split()})
    if not 0 < len(found) <= MOST_SIZES or found[0] < 1:
        raise ValueError(text)
    return found


def projections_in(text: str) -> list[str]:
    """Return the names of projections, each once."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the errors of settings, by the name of a setting."""
    found = head.campaign_conflicts(chosen)
    try:
        sizes_in(str(chosen["sizes"]))
    except ValueError:
        found["sizes"] = message(
            "pair-curve.sizes-invalid",
            "Enter 1 to {most} whole numbers above 0, not “{given}”.",
            most=MOST_SIZES,
            given=str(chosen["sizes"]),
        )
    names = projections_in(str(chosen["projections"]))
    if not names or not set(names) <= set(KINDS):
        found["projections"] = message(
            "pair-curve.projections-invalid",
            "Enter projections out of {known}, not “{given}”.",
            known=list(KINDS),
            given=str(chosen["projections"]),
        )
    return found


def checkpoints(chosen: Mapping[str, Any]) -> list[str]:
    """Return the checkpoints that a job reads."""
    return [name for name in (chosen["checkpoint"], chosen["language-model"]) if name]
