"""Likelihood under a translation model. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import PRECISION, Family, Option, Options, clean

FAITHFULNESS, PRECISION_OF, RECALL, BOTH = (
    *("source to output", "reference to output"),
    *("output to reference", "reference to output and back"),
)
DIRECTIONS = (FAITHFULNESS, PRECISION_OF, RECALL, BOTH)
MEAN, SUM = "mean", "sum"
TOLD = {
    FAITHFULNESS: "of the output, given the source (Prism-src)",
    PRECISION_OF: "of the output, given the reference",
    RECALL: "of the reference, given the output",
    BOTH: "of output and reference, each given the other: the mean of both (Prism-ref)",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a log-probability: never above 0, higher is better."""
    direction = str(options["direction"])
    from_source = direction == FAITHFULNESS
    told, model = TOLD[direction], options["checkpoint"]
    of_token = f"Mean log-probability of a token {told}, under {model}."
    of_text = f"Log-probability {told}, under {model}."
    return one_measure(
        name,
        label,
        needs_source=from_source,
        needs_reference=not from_source,
        queue="gpu",
        description=of_token if options["length"] == MEAN else of_text,
        citation="Thompson and Post 2020, Prism; Yuan et al. 2021, BARTScore",
        checkpoint=str(options["checkpoint"]),
        family="likelihood",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="likelihood",
    label="Likelihood (Prism, BARTScore)",
    description="How probable a sequence-to-sequence model finds a text: released ones, and those "
    "trained here.",
    scorer="training.translation.likelihood.scorer:Likelihood",
    options=(
        Option(
            "checkpoint",
            "Model",
            "checkpoint",
            help="A hub's name or a directory: BART, T5, mBART, M2M-100, NLLB, Marian, or the "
            "model of a training here. From references it must know the target language on both "
            "sides.",
        ),
        Option("direction", "Direction", "choice", BOTH, choices=DIRECTIONS),
        Option(
            "length",
            "Over tokens",
            "choice",
            MEAN,
            choices=(MEAN, SUM),
            help="mean: a token's share, as Prism and BARTScore have it; sum: of the whole text.",
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
