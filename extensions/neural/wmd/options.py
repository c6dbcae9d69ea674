"""Describe word mover's distance over vectors of files. Imports neither Django nor torch."""

from extensions.neural.xbertscore.options import COMPARE, COMPARED, REFERENCES
from extensions.neural.yisi.options import N_GRAM_SIZE, VECTORS, check_vectors
from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.families.lexical.options import TOKENIZER
from metrics.options import Option, Options
from metrics.plugins import Plugin


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe 1 - distance, one value per segment."""
    check_vectors(options)
    compare = str(options["compare"])
    return one_measure(
        name,
        label,
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",  # the queue whose workers have the packages of neural metrics, such as POT
        description=message(
            "wmd.about-squared",
            "1 − the squared word mover's distance of output and {compared} over aligned word "
            "vectors.",
            compared=COMPARED[compare],
        )
        if options["cost"] == "squared"
        else message(
            "wmd.about-euclidean",
            "1 − the Euclidean word mover's distance of output and {compared} over aligned word "
            "vectors.",
            compared=COMPARED[compare],
        ),
        citation="Joulin et al. 2018, Loss in translation; Zhao et al. 2020, On the limitations of "
        "cross-lingual encoders",
        family="wmd",
        options=tuple(options.items()),
    )


PLUGIN = Plugin(
    label=message("wmd.family", "Word mover's distance over word vectors"),
    description=message(
        "wmd.family-about",
        "Exact transport between words whose vectors are aligned across languages (RCSLS).",
    ),
    scorer="extensions.neural.wmd.scorer:WordMover",
    options=(
        *VECTORS,
        COMPARE,
        REFERENCES,
        TOKENIZER,
        Option("order", N_GRAM_SIZE, "integer", 1, minimum=1, maximum=4),
        Option(
            "cost",
            message("wmd.cost", "Cost"),
            "choice",
            "squared",
            choices=("squared", "euclidean"),
            help=message(
                "wmd.cost-help",
                "The distance of vectors of length 1: squared as in XMoverScore's release of 2020, "
                "or Euclidean as in its paper.",
            ),
        ),
    ),
    describe=describe,
    packages=("ot",),
)
