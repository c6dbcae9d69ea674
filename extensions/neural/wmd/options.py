"""Word mover's distance over vectors of files. Neither Django nor torch: the web reads it too."""

from extensions.neural.xbertscore.options import COMPARE, REFERENCES
from extensions.neural.yisi.options import VECTORS, check_vectors
from metrics.base import MetricInfo, one_measure
from metrics.families.lexical.options import TOKENIZER
from metrics.options import Option, Options
from metrics.plugins import Plugin


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe 1 - distance, one value a segment."""
    check_vectors(options)
    compare = str(options["compare"])
    return one_measure(
        name,
        label,
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",  # where the packages of neural metrics are, POT among them
        description=f"1 − the {options['cost']} word mover's distance of output and {compare} over "
        "aligned word vectors.",
        citation="Joulin et al. 2018, Loss in translation; Zhao et al. 2020, On the limitations of "
        "cross-lingual encoders",
        family="wmd",
        options=tuple(options.items()),
    )


PLUGIN = Plugin(
    label="Word mover's distance over word vectors",
    description="Exact transport between words with vectors aligned across languages (RCSLS).",
    scorer="extensions.neural.wmd.scorer:WordMover",
    options=(
        *VECTORS,
        COMPARE,
        REFERENCES,
        TOKENIZER,
        Option("order", "n-gram size", "integer", 1, minimum=1, maximum=4),
        Option(
            "cost",
            "Cost",
            "choice",
            "squared",
            choices=("squared", "euclidean"),
            help="Of vectors at length 1: squared as in XMoverScore's release of 2020, or "
            "Euclidean as in its paper.",
        ),
    ),
    describe=describe,
    packages=("ot",),
)
