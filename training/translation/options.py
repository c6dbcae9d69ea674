"""Settings of trainings of translation models, and the metric family of their likelihoods.

Imports neither Django nor torch: pages and workers read this.
"""

from collections.abc import Mapping
from typing import Any

from metaeval.messages import Message, message
from metrics.base import MetricInfo, one_measure
from metrics.families import long_texts, references
from metrics.options import PRECISION, Family, Option, Options, clean
from training.contract import SEED

KIND = "mt"
PLAIN, LENGTH_TOKEN, TARGET_EMBEDDING = "plain", "length-token", "target-embedding"
CONTROLS = (
    PLAIN, TARGET_EMBEDDING, LENGTH_TOKEN, "length-difference", "length-ratio", "progress-ratio",
)  # fmt: skip
FORMS = ("int", "encoding", "forward-backward")
NONE, STUDY = "none", "study"
# What a choice of preprocessing sets: the study's is that of Cheng et al. (2023).
PRESETS: dict[str, dict[str, Any]] = {
    NONE: {},
    STUDY: {"pieces": "bpe", "vocabulary": 64_000, "longest": 128, "imbalance": 1.5},
}

OPTIONS = (
    Option(
        "control",
        message("mt.control", "Length control"),
        "choice",
        PLAIN,
        choices=CONTROLS,
        help=message(
            "mt.control-help",
            "How the decoder gets the target length: not at all, as the number of remaining steps "
            "(target embedding), as a first token, or as positions that count towards the end.",
        ),
    ),
    Option(
        "form",
        message("mt.form", "Form of the target embedding"),
        "choice",
        "int",
        choices=FORMS,
        help=message(
            "mt.form-help",
            "A learned table, sinusoids instead of positions, or sinusoids in addition to "
            "positions.",
        ),
        is_rare=True,
    ),
    Option(
        "cap", message("mt.cap", "Longest distinct length"), "integer", 100, minimum=2, maximum=8191
    ),
    Option("layers", message("mt.layers", "Layers per side"), "integer", 6, minimum=1, maximum=24),
    Option("width", message("mt.width", "Width"), "integer", 512, minimum=8, maximum=4096),
    Option("heads", message("mt.heads", "Attention heads"), "integer", 8, minimum=1, maximum=64),
    Option(
        "inner", message("mt.inner", "Width of the feed-forward layers"), "integer", 2048, minimum=8
    ),
    Option("dropout", message("mt.dropout", "Dropout"), "number", 0.1, minimum=0, maximum=0.9),
    Option(
        "preprocessing",
        message("mt.preprocessing", "Preprocessing"),
        "choice",
        NONE,
        choices=tuple(PRESETS),
        help=message(
            "mt.preprocessing-help",
            "study (Cheng et al. 2023): Moses’ punctuation and tokens for languages with spaces, "
            "and, whatever is chosen for them, 64,000 pieces by BPE, at most 128 pieces a side and "
            "a ratio of lengths of at most 1.5. Translations are detokenised.",
        ),
    ),
    Option("pieces", message("mt.pieces", "Pieces"), "choice", "bpe", choices=("bpe", "unigram")),
    Option(
        "vocabulary",
        message("mt.vocabulary", "Vocabulary size"),
        "integer",
        8000,
        minimum=20,
        maximum=128_000,
        help=message(
            "mt.vocabulary-help",
            "Number of pieces for both languages together. Each Han character is a piece.",
        ),
    ),
    Option(
        "longest",
        message("mt.longest", "Maximum pieces per side"),
        "integer",
        128,
        minimum=2,
        maximum=1000,
    ),
    Option(
        "imbalance",
        message("mt.imbalance", "Maximum ratio of lengths"),
        "number",
        1.5,
        minimum=0,
        help=message(
            "mt.imbalance-help", "Pairs with a higher ratio are excluded; 0 excludes none."
        ),
    ),
    Option("reverse", message("mt.reverse", "Reverse the direction"), "boolean", False),
    Option(
        "held_out",
        message("mt.held-out", "Held-out pairs"),
        "integer",
        500,
        minimum=2,
        maximum=20_000,
    ),
    Option("steps", message("mt.steps", "Updates"), "integer", 100_000, minimum=1),
    Option("batch", message("mt.batch", "Pairs per batch"), "integer", 64, minimum=1, maximum=4096),
    Option(
        "accumulate",
        message("mt.accumulate", "Batches per update"),
        "integer",
        1,
        minimum=1,
        maximum=256,
    ),
    Option(
        "rate", message("mt.rate", "Highest learning rate"), "number", 7e-4, minimum=1e-8, maximum=1
    ),
    Option("warmup", message("mt.warmup", "Warm-up updates"), "integer", 4000, minimum=0),
    Option(
        "smoothing",
        message("mt.smoothing", "Label smoothing"),
        "number",
        0.1,
        minimum=0,
        maximum=0.9,
    ),
    Option(
        "evaluate_every",
        message("mt.evaluate-every", "Updates between evaluations"),
        "integer",
        1000,
        minimum=1,
    ),
    Option(
        "precision",
        message("mt.precision", "Precision"),
        "choice",
        "auto",
        choices=("auto", "float32", "bfloat16"),
        help=message("mt.precision-help", "auto uses bfloat16 on GPUs that support it."),
    ),
    Option("seed", SEED, "integer", 42, minimum=0, maximum=2**31 - 1),
)
MAIN = (
    "control",
    "layers",
    "width",
    "preprocessing",
    "vocabulary",
    "reverse",
    "steps",
    "batch",
    "seed",
)


def settle(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with those that the preprocessing sets."""
    return {**chosen, **PRESETS[chosen["preprocessing"]]}


def conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the errors of settings that do not fit together, by the name of a setting."""
    found = {}
    if chosen["width"] % chosen["heads"]:
        found["heads"] = message(
            "mt.heads-do-not-divide",
            "A width of {width} cannot be divided into {heads} heads.",
            width=chosen["width"],
            heads=chosen["heads"],
        )
    if chosen["width"] % 2:
        found["width"] = message("mt.width-odd", "The width must be even.")
    if chosen["form"] != "int" and chosen["control"] != TARGET_EMBEDDING:
        found["form"] = message(
            "mt.form-without-control",
            "This form can only be used with the length control {control}.",
            control=TARGET_EMBEDDING,
        )
    return found


FAITHFULNESS, PRECISION_OF, RECALL, BOTH = (
    *("source to output", "reference to output"),
    *("output to reference", "reference to output and back"),
)
DIRECTIONS = (FAITHFULNESS, PRECISION_OF, RECALL, BOTH)
MEAN, SUM = "mean", "sum"


def _measured(direction: str, model: str) -> Message:
    match direction:
        case _ if direction == FAITHFULNESS:
            return message(
                "likelihood.output-given-source",
                "Log-probability of the output given the source (Prism-src), under {model}.",
                model=model,
            )
        case _ if direction == PRECISION_OF:
            return message(
                "likelihood.output-given-reference",
                "Log-probability of the output given the reference, under {model}.",
                model=model,
            )
        case _ if direction == RECALL:
            return message(
                "likelihood.reference-given-output",
                "Log-probability of the reference given the output, under {model}.",
                model=model,
            )
    return message(
        "likelihood.both",
        "Mean of two log-probabilities (Prism-ref): output given reference and reference given "
        "output, under {model}.",
        model=model,
    )


def describe_likelihood(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a log-probability: never above 0, higher is better."""
    direction = str(options["direction"])
    from_source = direction == FAITHFULNESS
    description = message(
        "likelihood.description",
        "{measured} {length}",
        measured=_measured(direction, str(options["checkpoint"])),
        length=message("likelihood.mean", "Averaged over tokens.")
        if options["length"] == MEAN
        else message("likelihood.sum", "Summed over tokens."),
    )
    return one_measure(
        name,
        label,
        needs_source=from_source,
        needs_reference=not from_source,
        queue="gpu",
        description=description,
        citation="Thompson and Post 2020, Prism; Yuan et al. 2021, BARTScore",
        checkpoint=str(options["checkpoint"]),
        family="likelihood",
        options=tuple(options.items()),
    )


LIKELIHOOD = Family(
    key="likelihood",
    label="Likelihood (Prism, BARTScore)",
    description=message(
        "likelihood.about",
        "The probability of a text under a sequence-to-sequence model, released or trained here.",
    ),
    limits=message(
        "limits.likelihood",
        "Its size and languages are those of the model. Some fixed texts score well against any "
        "reference (Yan et al. 2023), and outputs of the same model score better than those of "
        "others (Liu et al. 2024).",
    ),
    scorer="training.translation.likelihood:Likelihood",
    options=(
        Option(
            "checkpoint",
            message("likelihood.checkpoint", "Model"),
            "checkpoint",
            help=message(
                "likelihood.checkpoint-help",
                "A name on the Hugging Face hub or a folder: BART, T5, mBART, M2M-100, NLLB, "
                "Marian, "
                "or a model trained here. With references it must support the target language on "
                "both "
                "sides.",
            ),
        ),
        Option(
            "direction",
            message("likelihood.direction", "Direction"),
            "choice",
            BOTH,
            choices=DIRECTIONS,
        ),
        Option(
            "length",
            message("likelihood.length", "Over tokens"),
            "choice",
            MEAN,
            choices=(MEAN, SUM),
            help=message(
                "likelihood.length-help",
                "mean: the average per token, as in Prism and BARTScore; sum: the total of the "
                "text.",
            ),
            is_rare=True,
        ),
        references.option("mean"),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_likelihood,
    packages=("sentencepiece",),
)

_BARTSCORE = describe_likelihood(
    "bartscore-cnn", "BARTScore CNN", clean(LIKELIHOOD, {"checkpoint": "facebook/bart-large-cnn"})
)
KNOWN_LIKELIHOODS = {_BARTSCORE.name: (_BARTSCORE, LIKELIHOOD.scorer)}
