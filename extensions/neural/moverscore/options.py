"""MoverScore's definitions and settings. Neither Django nor torch: web and workers read them."""

from dataclasses import dataclass

from extensions.neural.mover.definition import Definition
from metrics.base import MetricInfo
from metrics.families import references
from metrics.options import PRECISION, Option, Options, clean_all, count_layers
from metrics.plugins import Plugin

_ZHAO = (
    "Zhao et al. 2019, MoverScore: text generation evaluating with contextualized embeddings and "
    "earth mover distance"
)


@dataclass(frozen=True)
class Variant:
    """One of the released versions: how many of the last layers it reads, and its n-grams."""

    definition: Definition
    n_layers: int
    sizes: tuple[int, ...]


VARIANTS: dict[str, Variant] = {
    "v1": Variant(Definition(True, "squared", "difference"), 5, (1, 2)),
    "v2": Variant(Definition(True, "euclidean", "inverse"), 1, (1,)),
}
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
        description=f"Word mover's score of output and reference under {options['checkpoint']}.",
        citation=_ZHAO,
        shown=(f"{name}-{shown}",),
        checkpoint=str(options["checkpoint"]),
        family="moverscore",
        options=tuple(options.items()),
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one; ValueError where its settings do not fit together."""
    variant, layers = VARIANTS[str(options["version"])], count_layers(str(options["checkpoint"]))
    if layers < variant.n_layers:
        raise ValueError(
            f"Version: {options['version']} reads the last {variant.n_layers} layers; "
            f"{options['checkpoint']} has {layers}."
        )
    if int(options["n"]) not in variant.sizes:
        raise ValueError(f"N-grams shown: {options['version']} has unigrams only.")
    return make_info(name, label, options)


PLUGIN = Plugin(
    label="MoverScore",
    description="Word mover's score of output and reference under any encoder.",
    scorer="extensions.neural.moverscore.scorer:MoverScore",
    options=(
        Option("checkpoint", "Encoder", "checkpoint", help="A hub's name or a local directory."),
        Option(
            "version",
            "Version",
            "choice",
            "v2",
            choices=tuple(VARIANTS),
            help="v1 joins the last five layers; v2 reads the last one.",
        ),
        Option("n", "N-grams shown", "choice", "1", choices=("1", "2"), help="v2 has 1 only."),
        references.option("best"),
        Option(
            "idf-hypothesis",
            "Corpus for idf of outputs",
            "file",
            "",
            help="One sentence a line; empty for equal weights.",
        ),
        Option("idf-reference", "Corpus for idf of references", "file", "", help="As for outputs."),
        PRECISION,
    ),
    describe=describe,
    packages=("ot",),
)
_DISTILLED = clean_all(PLUGIN.options, {"checkpoint": "distilbert-base-uncased"})
KNOWN = (make_info("moverscore", "MoverScore", _DISTILLED),)
