"""The metric family of likelihoods under a translation model. Imports neither Django nor torch."""

from metaeval.messages import Message, message
from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import PRECISION, Family, Option, Options, clean

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


def describe(name: str, label: str, options: Options) -> MetricInfo:
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


FAMILY = Family(
    key="likelihood",
    label="Likelihood (Prism, BARTScore)",
    description=message(
        "likelihood.about",
        "The probability of a text under a sequence-to-sequence model, released or trained here.",
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
        PRECISION,
    ),
    describe=describe,
    packages=("sentencepiece",),
)

_BARTSCORE = describe(
    "bartscore-cnn", "BARTScore CNN", clean(FAMILY, {"checkpoint": "facebook/bart-large-cnn"})
)
KNOWN = {_BARTSCORE.name: (_BARTSCORE, FAMILY.scorer)}
