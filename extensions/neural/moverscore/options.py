"""Describe MoverScore and word mover's distance. Imports neither Django nor torch."""

from dataclasses import dataclass

from extensions.neural.bertscore.options import COMPARE, COMPARED, REFERENCES
from extensions.neural.mover.options import Definition
from extensions.neural.yisi.options import N_GRAM_SIZE, VECTORS, VECTORS_LIMITS, check_vectors
from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.families import long_texts, references
from metrics.families.lexical.options import TOKENIZER
from metrics.options import (
    CHECKPOINT_HELP,
    ENCODER_LABEL,
    ENCODER_LIMITS,
    PRECISION,
    Option,
    OptionError,
    Options,
    clean_all,
    count_layers,
)
from metrics.plugins import Plugin

_ZHAO = (
    "Zhao et al. 2019, MoverScore: text generation evaluating with contextualized embeddings and "
    "earth mover distance"
)


@dataclass(frozen=True)
class Variant:
    """Hold a released version: the number of last layers it uses, and its n-grams."""

    definition: Definition
    n_layers: int
    sizes: tuple[int, ...]


VARIANTS: dict[str, Variant] = {
    "v1": Variant(Definition(True, "squared", "difference"), 5, (1, 2)),
    "v2": Variant(Definition(True, "euclidean", "inverse"), 1, (1,)),
}
CORPUS_HELP = message("mover.corpus-help", "One sentence per line; blank for equal weights.")
_LABELS = {1: "unigrams", 2: "bigrams"}


def make_info(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a score for each n of the version."""
    sizes = VARIANTS[str(options["version"])].sizes
    shown = int(options["n"])
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{n}" for n in sizes),
        measure_labels=tuple(f"{label} {_LABELS[n]}" for n in sizes),
        needs_source=False,
        needs_reference=True,
        queue="gpu",
        description=message(
            "moverscore.about",
            "Word mover's score of output and reference under {checkpoint}.",
            checkpoint=str(options["checkpoint"]),
        ),
        citation=_ZHAO,
        shown=(f"{name}-{shown}",),
        checkpoint=str(options["checkpoint"]),
        family="moverscore",
        options=tuple(options.items()),
    )


def describe_moverscore(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; raise OptionError for options that do not fit together."""
    variant, layers = VARIANTS[str(options["version"])], count_layers(str(options["checkpoint"]))
    if layers < variant.n_layers:
        problem = message(
            "moverscore.too-few-layers",
            "{version} uses the last {needed} layers, but {checkpoint} has only {layers}.",
            version=str(options["version"]),
            needed=variant.n_layers,
            checkpoint=str(options["checkpoint"]),
            layers=layers,
        )
        raise OptionError(problem, "version")
    if int(options["n"]) not in variant.sizes:
        problem = message(
            "moverscore.unigrams-only",
            "{version} has unigrams only.",
            version=str(options["version"]),
        )
        raise OptionError(problem, "n")
    return make_info(name, label, options)


PLUGIN = Plugin(
    label="MoverScore",
    description=message(
        "moverscore.family", "Word mover's score of output and reference under any encoder."
    ),
    limits=ENCODER_LIMITS,
    scorer="extensions.neural.moverscore.scorer:MoverScore",
    options=(
        Option("checkpoint", ENCODER_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "version",
            message("moverscore.version", "Version"),
            "choice",
            "v2",
            choices=tuple(VARIANTS),
            help=message(
                "moverscore.version-help", "v1 joins the last five layers; v2 uses the last one."
            ),
        ),
        Option(
            "n",
            message("option.n-grams-shown", "N-grams shown"),
            "choice",
            "1",
            choices=("1", "2"),
            help=message("moverscore.n-grams-help", "v2 has unigrams (1) only."),
        ),
        references.option("best"),
        Option(
            "idf-hypothesis",
            message("mover.idf-outputs", "Corpus for idf of outputs"),
            "file",
            "",
            help=CORPUS_HELP,
        ),
        Option(
            "idf-reference",
            message("mover.idf-references", "Corpus for idf of references"),
            "file",
            "",
            help=CORPUS_HELP,
        ),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_moverscore,
    packages=("ot",),
)
_DISTILLED = clean_all(PLUGIN.options, {"checkpoint": "distilbert-base-uncased"})
KNOWN = (make_info("moverscore", "MoverScore", _DISTILLED),)


def describe_distance(name: str, label: str, options: Options) -> MetricInfo:
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


WMD_PLUGIN = Plugin(
    label=message("wmd.family", "Word mover's distance over word vectors"),
    description=message(
        "wmd.family-about",
        "Exact transport between words whose vectors are aligned across languages (RCSLS).",
    ),
    limits=VECTORS_LIMITS,
    scorer="extensions.neural.moverscore.static:WordMover",
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
    describe=describe_distance,
    packages=("ot",),
)
