"""Settings of distillations. Imports no torch: pages and the command line read this."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from metaeval.messages import Message, message
from metrics.options import Option
from training.contract import SEED
from training.refreeeval import recipe as refreeeval

KIND = "distillation"
# Always shown in the form; the others are folded.
MAIN = ("encoder", "teacher", "language", "layer", "passes", "sample", "seed")


@dataclass(frozen=True)
class Recipe:
    """All settings of a distillation, after its options are checked.

    ``steps`` is the number of updates, which the data and ``passes`` give.
    """

    encoder: str
    teacher: str
    language: str
    layer: int
    passes: int
    sample: int
    held_out: float
    max_pieces: int
    batch: int
    accumulation: int
    rate: float
    warmup: int
    evaluate_every: int
    checkpointing: bool
    seed: int
    steps: int = 0

    @property
    def swapped(self) -> float:
        """The share of pairs that change places: none."""
        return 0.0

    @classmethod
    def from_options(cls, cleaned: Mapping[str, Any]) -> Self:
        """Return the recipe of checked options."""
        return cls(
            **{each.name: cleaned[each.name] for each in fields(cls) if each.name in cleaned}
        )

    def as_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {name: value for name, value in asdict(self).items() if name != "steps"}


def conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the errors of settings that do not fit together, by the name of a setting."""
    found = {}
    if chosen["rate"] == 0:
        found["rate"] = refreeeval.RATE_ZERO
    if chosen["accumulation"] > chosen["batch"]:
        found["accumulation"] = refreeeval.too_many_parts(chosen["batch"])
    return found


def _shared(*names: str) -> list[Option]:
    """Return options of ReFreeEval, which mean the same here."""
    return [option for option in refreeeval.OPTIONS if option.name in names]


OPTIONS = (
    Option(
        "encoder",
        message("distillation.encoder", "Student"),
        "checkpoint",
        "xlm-roberta-base",
        help=message("distillation.encoder-help", "The multilingual encoder that is trained."),
    ),
    Option(
        "teacher",
        message("distillation.teacher", "Teacher"),
        "checkpoint",
        "sentence-transformers/bert-base-nli-stsb-mean-tokens",
        help=message(
            "distillation.teacher-help",
            "A sentence encoder of one language. Its vectors must have the width of the student’s.",
        ),
    ),
    Option(
        "language",
        message("distillation.language", "Language of the teacher"),
        "text",
        "en",
        help=message(
            "distillation.language-help", "Each corpus must have this language on one side."
        ),
    ),
    Option(
        "layer",
        message("distillation.layer", "Layer of BERTScore"),
        "integer",
        9,
        minimum=1,
        help=message(
            "distillation.layer-help",
            "All layers are trained; the resulting metric reads this one. The paper names none.",
        ),
    ),
    Option(
        "passes",
        message("distillation.passes", "Passes over the pairs"),
        "integer",
        20,
        minimum=1,
        maximum=1000,
    ),
    *_shared("sample", "held_out", "max_pieces"),
    Option("batch", message("refreeeval.batch", "Pairs per update"), "integer", 64, minimum=1),
    *_shared("accumulation"),
    Option("rate", message("refreeeval.rate", "Learning rate"), "number", 2e-5, minimum=0),
    Option(
        "warmup",
        message("refreeeval.warmup", "Warm-up updates"),
        "integer",
        1000,
        minimum=0,
        help=message("distillation.warmup-help", "The paper has 10,000, for millions of pairs."),
    ),
    *_shared("evaluate_every", "checkpointing"),
    Option("seed", SEED, "integer", 42, minimum=0),
)
