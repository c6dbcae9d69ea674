"""XBERTScore on any encoder. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo
from metrics.families import references
from metrics.options import PRECISION, Family, Option, Options, check_layer

SCORER = "extensions.neural.xbertscore.scorer:XBertScore"
_SIDES = (("p", "P"), ("r", "R"), ("f", "F1"))
_SHOWN = Option("measure", "Measure shown", "choice", "f", choices=("p", "r", "f"))
COMPARE = Option(
    "compare",
    "Compare the output with",
    "choice",
    "source",
    choices=("source", "reference"),
)
REFERENCES = references.option("best", more="It matters only where references are compared.")
IDF = Option(
    "idf",
    "Sentences for idf weights",
    "file",
    "",
    help="A file with one sentence a line: those that outputs are compared with, such as all "
    "sources of the test set. Without it every piece weighs the same.",
)


def make_info(
    name: str,
    label: str,
    options: Options,
    *,
    family: str = "xbertscore",
    description: str = "",
    citation: str = "Zhang et al. 2020, BERTScore: evaluating text generation with BERT",
) -> MetricInfo:
    """Describe precision, recall and F1 at one layer."""
    compare, checkpoint = str(options["compare"]), str(options["checkpoint"])
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{key}" for key, _ in _SIDES),
        measure_labels=tuple(f"{label} {word}" for _, word in _SIDES),
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",
        description=description
        or f"Token similarity of output and {compare} under {checkpoint}, layer "
        f"{options['layer']}.",
        citation=citation,
        shown=(f"{name}-{options['measure']}",),
        checkpoint=checkpoint,
        family=family,
        options=tuple(options.items()),
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one; that the layer exists is read from the checkpoint."""
    check_layer(str(options["checkpoint"]), int(options["layer"]))
    return make_info(name, label, options)


FAMILY = Family(
    key="xbertscore",
    label="XBERTScore",
    description="Token similarity of output and source under any multilingual encoder.",
    scorer=SCORER,
    options=(
        Option(
            "checkpoint",
            "Encoder",
            "checkpoint",
            "xlm-roberta-base",
            help="A hub's name or a local directory.",
        ),
        Option("layer", "Layer", "integer", 9, minimum=0, help="0 is the embedding."),
        COMPARE,
        REFERENCES,
        _SHOWN,
        IDF,
        PRECISION,
    ),
    describe=describe,
)
