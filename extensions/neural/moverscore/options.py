"""Describe MoverScore's definitions and options. Imports neither Django nor torch."""

from dataclasses import dataclass

from extensions.neural.mover.definition import Definition
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    ENCODER_LABEL,
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


def describe(name: str, label: str, options: Options) -> MetricInfo:
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
        PRECISION,
    ),
    describe=describe,
    packages=("ot",),
)
_DISTILLED = clean_all(PLUGIN.options, {"checkpoint": "distilbert-base-uncased"})
KNOWN = (make_info("moverscore", "MoverScore", _DISTILLED),)
