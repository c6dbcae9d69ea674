"""How a ReFreeEval model is trained, as data. No torch: the page and the command line read it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from metrics.options import Option, clean_all

# Each variant of the paper's ablation (section 5.3): its stages, and the weights of L_fl and L_fa.
VARIANTS: dict[str, tuple[tuple[str, ...], bool, bool]] = {
    "full": (("sentence", "word"), True, True),
    "sent-level": (("sentence",), True, True),
    "fluency": (("sentence",), True, False),
    "sent-fa": (("sentence",), False, True),
    "word-level": (("word",), False, False),
}


@dataclass(frozen=True)
class Recipe:
    """All settings of a training; the defaults are the paper's (sections 3 and 4.2).

    ``negatives`` is k, ``swapped`` the share of pairs whose sides change places at the sentence
    level, ``held_out`` the share of source texts that are not trained on, half of them to choose
    checkpoints, half to report on. Rates and warm-up count updates. ``steps`` of 0 means one pass
    over the data.
    """

    encoder: str
    teacher: str
    variant: str
    rule: str
    layer: int
    negatives: int
    alpha: float
    c1: float
    c2: float
    expand_words: bool
    swapped: float
    held_out: float
    sample: int
    max_pieces: int
    batch: int
    accumulation: int
    rate: float
    warmup: int
    word_batch: int
    word_rate: float
    word_warmup: int
    steps: int
    evaluate_every: int
    checkpointing: bool
    seed: int

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        """Check and fill options; ValueError names the one at fault."""
        cleaned: dict[str, Any] = clean_all(OPTIONS, given)
        if found := conflicts(cleaned):
            raise ValueError(" ".join(f"{name}: {message}" for name, message in found.items()))
        return cls(**{field.name: cleaned[field.name] for field in fields(cls)})

    @property
    def stages(self) -> tuple[str, ...]:
        """What is trained, in order."""
        return VARIANTS[self.variant][0]

    @property
    def has_fluency(self) -> bool:
        """Whether L_fl counts."""
        return VARIANTS[self.variant][1]

    @property
    def has_teacher(self) -> bool:
        """Whether L_fa counts."""
        return VARIANTS[self.variant][2]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def conflicts(chosen: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings with which nothing would be learned beside the others, and why.

    A (above c1) is contained in B (above c2), whose remainder are the rivals [eq. 2, 3].
    """
    stages, _, has_teacher = VARIANTS[chosen["variant"]]
    of_stage = {"sentence": ("rate", "batch"), "word": ("word_rate", "word_batch")}
    found = {
        name: "must be above 0, or nothing is learned."
        for name in (of_stage[stage][0] for stage in stages)
        if chosen[name] == 0
    }
    if chosen["c1"] >= 1:
        found["c1"] = "must be below 1: no share of a softmax is above it."
    if chosen["c2"] >= chosen["c1"]:
        found["c2"] = (
            f"must be below c1, not {chosen['c2']:g} with c1 {chosen['c1']:g}: rivals are the "
            "pieces between both thresholds."
        )
    if has_teacher and not VARIANTS[chosen["variant"]][1] and chosen["alpha"] == 0:
        found["alpha"] = f"must be above 0: {chosen['variant']} learns from the distillation alone."
    smallest = min(chosen[of_stage[stage][1]] for stage in stages)
    if chosen["accumulation"] > smallest:
        found["accumulation"] = f"an update of {smallest} pairs has no more parts than that."
    return found


def checkpoints(chosen: Mapping[str, Any]) -> list[str]:
    """Return the checkpoints that a training reads."""
    return [chosen["encoder"], *([chosen["teacher"]] if VARIANTS[chosen["variant"]][2] else [])]


OPTIONS = (
    Option("encoder", "Encoder", "checkpoint", "xlm-roberta-base", help="What is trained."),
    Option(
        "teacher",
        "Sentence encoder",
        "checkpoint",
        "sentence-transformers/xlm-r-bert-base-nli-stsb-mean-tokens",
        help="Whose cosines the sentence level imitates; mean pooling.",
    ),
    Option(
        "variant",
        "Variant",
        "choice",
        "full",
        choices=tuple(VARIANTS),
        help="The rows of the paper's ablation; full is the sentence level, then the word level.",
    ),
    Option(
        "rule",
        "Perturbation",
        "choice",
        "clauses",
        choices=("clauses", "released", "shuffle", "repeat"),
        help="clauses is the paper's text, released what its code does.",
    ),
    Option("layer", "Layer", "integer", 9, minimum=1, help="The encoder ends here."),
    Option("negatives", "Degraded texts a pair (k)", "integer", 7, minimum=1, maximum=31),
    Option("alpha", "Weight of the distillation (α)", "number", 30.0, minimum=0),
    Option("c1", "Threshold of aligned pieces (c1)", "number", 1e-3, minimum=0, maximum=1),
    Option("c2", "Threshold of rivals (c2)", "number", 1e-20, minimum=0, maximum=1),
    Option(
        "expand_words",
        "Expand to words",
        "boolean",
        True,
        help="All piece pairs of two aligned words are positives (released code, not the paper).",
    ),
    Option("swapped", "Share of swapped pairs", "number", 1 / 3, minimum=0, maximum=1),
    Option(
        "held_out",
        "Share held out",
        "number",
        0.05,
        minimum=0.001,
        maximum=0.5,
        help="Half of it chooses checkpoints, half is reported on; at most 400 texts each.",
    ),
    Option("sample", "Pairs from each corpus", "integer", 20_000, minimum=10),
    Option("max_pieces", "Pieces of a text", "integer", 128, minimum=8, maximum=512),
    Option("batch", "Pairs of an update", "integer", 10, minimum=1),
    Option("accumulation", "Parts of an update", "integer", 1, minimum=1, maximum=64),
    Option("rate", "Learning rate", "number", 1e-6, minimum=0),
    Option("warmup", "Warm-up updates", "integer", 1000, minimum=0),
    Option("word_batch", "Pairs of an update, word level", "integer", 15, minimum=1),
    Option("word_rate", "Learning rate, word level", "number", 1e-6, minimum=0),
    Option("word_warmup", "Warm-up updates, word level", "integer", 200, minimum=0),
    Option("steps", "Updates of a level", "integer", 0, minimum=0, help="0: one pass."),
    Option("evaluate_every", "Updates between validations", "integer", 100, minimum=1),
    Option("checkpointing", "Save memory by recomputing", "boolean", False),
    Option("seed", "Seed", "integer", 42, minimum=0),
)
