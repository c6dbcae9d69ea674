"""Settings of ReFreeEval trainings. Imports no torch: pages and the command line read this."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from metaeval.messages import Message, message
from metrics.options import Option, clean_all
from training.contract import SEED, JobError

# Each variant of the paper's ablation (section 5.3): its stages, and the weights of L_fl and L_fa.
VARIANTS: dict[str, tuple[tuple[str, ...], bool, bool]] = {
    "full": (("sentence", "word"), True, True),
    "sent-level": (("sentence",), True, True),
    "fluency": (("sentence",), True, False),
    "sent-fa": (("sentence",), False, True),
    "word-level": (("word",), False, False),
}
RATE_ZERO = message(
    "refreeeval.rate-zero", "The learning rate must be above 0, or nothing is learned."
)


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
        """Return the recipe of checked options with defaults.

        Raises ValueError for a wrong value, and JobError for values that do not fit together.
        """
        cleaned: dict[str, Any] = clean_all(OPTIONS, given)
        if errors := conflicts(cleaned):
            raise JobError(*errors.values())
        return cls(**{field.name: cleaned[field.name] for field in fields(cls)})

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the levels that are trained, in order."""
        return VARIANTS[self.variant][0]

    @property
    def has_fluency(self) -> bool:
        """Return True if L_fl is part of the loss."""
        return VARIANTS[self.variant][1]

    @property
    def has_teacher(self) -> bool:
        """Return True if L_fa is part of the loss."""
        return VARIANTS[self.variant][2]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the errors of settings that do not fit together, by the name of a setting.

    A (above c1) is contained in B (above c2), whose remainder are the rivals [eq. 2, 3].
    """
    stages, _, has_teacher = VARIANTS[chosen["variant"]]
    of_stage = {"sentence": ("rate", "batch"), "word": ("word_rate", "word_batch")}
    found = {
        name: RATE_ZERO for name in (of_stage[stage][0] for stage in stages) if chosen[name] == 0
    }
    if chosen["c1"] >= 1:
        found["c1"] = message(
            "refreeeval.c1-too-high", "c1 must be below 1: no share of a softmax is above 1."
        )
    if chosen["c2"] >= chosen["c1"]:
        found["c2"] = message(
            "refreeeval.c2-above-c1",
            "c2 ({c2:g}) must be below c1 ({c1:g}): rivals are the pieces between both thresholds.",
            c2=chosen["c2"],
            c1=chosen["c1"],
        )
    if has_teacher and not VARIANTS[chosen["variant"]][1] and chosen["alpha"] == 0:
        found["alpha"] = message(
            "refreeeval.alpha-zero",
            "α must be above 0: the variant {variant} learns from the distillation only.",
            variant=chosen["variant"],
        )
    smallest = min(chosen[of_stage[stage][1]] for stage in stages)
    if chosen["accumulation"] > smallest:
        found["accumulation"] = too_many_parts(smallest)
    return found


def too_many_parts(pairs: int) -> Message:
    """Return the error of an update that is split into more parts than it has pairs."""
    return message(
        "refreeeval.too-many-parts",
        "An update of {pairs} pairs cannot be split into more than {pairs} parts.",
        pairs=pairs,
    )


def checkpoints(chosen: Mapping[str, Any]) -> list[str]:
    """Return the checkpoints that a training reads."""
    return [chosen["encoder"], *([chosen["teacher"]] if VARIANTS[chosen["variant"]][2] else [])]


OPTIONS = (
    Option(
        "encoder",
        message("refreeeval.recipe-encoder", "Encoder"),
        "checkpoint",
        "xlm-roberta-base",
        help=message("refreeeval.recipe-encoder-help", "The model that is trained."),
    ),
    Option(
        "teacher",
        message("refreeeval.teacher", "Sentence encoder"),
        "checkpoint",
        "sentence-transformers/xlm-r-bert-base-nli-stsb-mean-tokens",
        help=message(
            "refreeeval.teacher-help",
            "The teacher: the sentence level learns its cosines. Uses mean pooling.",
        ),
    ),
    Option(
        "variant",
        message("refreeeval.variant", "Variant"),
        "choice",
        "full",
        choices=tuple(VARIANTS),
        help=message(
            "refreeeval.variant-help",
            "One row of the ablation in the paper. The variant “full” trains the sentence level, "
            "then the word level.",
        ),
    ),
    Option(
        "rule",
        message("refreeeval.rule", "Perturbation"),
        "choice",
        "clauses",
        choices=("clauses", "released", "shuffle", "repeat"),
        help=message(
            "refreeeval.rule-help",
            "clauses follows the text of the paper, released follows its code.",
        ),
    ),
    Option(
        "layer",
        message("refreeeval.layer", "Layer"),
        "integer",
        9,
        minimum=1,
        help=message("refreeeval.layer-help", "The last layer of the encoder that is used."),
    ),
    Option(
        "negatives",
        message("refreeeval.negatives", "Degraded texts per pair (k)"),
        "integer",
        7,
        minimum=1,
        maximum=31,
    ),
    Option(
        "alpha",
        message("refreeeval.alpha", "Weight of the distillation (α)"),
        "number",
        30.0,
        minimum=0,
    ),
    Option(
        "c1",
        message("refreeeval.c1", "Threshold of aligned pieces (c1)"),
        "number",
        1e-3,
        minimum=0,
        maximum=1,
    ),
    Option(
        "c2",
        message("refreeeval.c2", "Threshold of rivals (c2)"),
        "number",
        1e-20,
        minimum=0,
        maximum=1,
    ),
    Option(
        "expand_words",
        message("refreeeval.expand-words", "Expand to words"),
        "boolean",
        True,
        help=message(
            "refreeeval.expand-words-help",
            "All pairs of pieces of two aligned words are positives, as in the released code but "
            "not "
            "in the paper.",
        ),
    ),
    Option(
        "swapped",
        message("refreeeval.swapped", "Share of swapped pairs"),
        "number",
        1 / 3,
        minimum=0,
        maximum=1,
    ),
    Option(
        "held_out",
        message("refreeeval.held-out", "Held-out share"),
        "number",
        0.05,
        minimum=0.001,
        maximum=0.5,
        help=message(
            "refreeeval.held-out-help",
            "Half of it is used to choose checkpoints, half to report results; at most 400 texts "
            "each.",
        ),
    ),
    Option(
        "sample",
        message("refreeeval.sample", "Pairs from each corpus"),
        "integer",
        20_000,
        minimum=10,
    ),
    Option(
        "max_pieces",
        message("refreeeval.max-pieces", "Pieces per text"),
        "integer",
        128,
        minimum=8,
        maximum=512,
    ),
    Option("batch", message("refreeeval.batch", "Pairs per update"), "integer", 10, minimum=1),
    Option(
        "accumulation",
        message("refreeeval.accumulation", "Parts per update"),
        "integer",
        1,
        minimum=1,
        maximum=64,
    ),
    Option("rate", message("refreeeval.rate", "Learning rate"), "number", 1e-6, minimum=0),
    Option("warmup", message("refreeeval.warmup", "Warm-up updates"), "integer", 1000, minimum=0),
    Option(
        "word_batch",
        message("refreeeval.word-batch", "Pairs per update, word level"),
        "integer",
        15,
        minimum=1,
    ),
    Option(
        "word_rate",
        message("refreeeval.word-rate", "Learning rate, word level"),
        "number",
        1e-6,
        minimum=0,
    ),
    Option(
        "word_warmup",
        message("refreeeval.word-warmup", "Warm-up updates, word level"),
        "integer",
        200,
        minimum=0,
    ),
    Option(
        "steps",
        message("refreeeval.steps", "Updates per level"),
        "integer",
        0,
        minimum=0,
        help=message("refreeeval.steps-help", "0 means one pass over the data."),
    ),
    Option(
        "evaluate_every",
        message("refreeeval.evaluate-every", "Updates between validations"),
        "integer",
        100,
        minimum=1,
    ),
    Option(
        "checkpointing",
        message("refreeeval.checkpointing", "Save memory by recomputing"),
        "boolean",
        False,
    ),
    Option("seed", SEED, "integer", 42, minimum=0),
)
