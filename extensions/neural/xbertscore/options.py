"""Describe XBERTScore on any encoder. Imports neither Django nor torch."""

from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    ENCODER_LABEL,
    LAYER_HELP,
    LAYER_LABEL,
    PRECISION,
    Family,
    Option,
    Options,
    check_layer,
)

SCORER = "extensions.neural.xbertscore.scorer:XBertScore"
_SIDES = (("p", "P"), ("r", "R"), ("f", "F1"))
_SHOWN = Option(
    "measure", message("option.measure", "Measure shown"), "choice", "f", choices=("p", "r", "f")
)
# The text that the output is compared with.
COMPARED = {
    "source": message("compare.source", "source"),
    "reference": message("compare.reference", "reference"),
}
COMPARE = Option(
    "compare",
    message("option.compare", "Compare the output with"),
    "choice",
    "source",
    choices=("source", "reference"),
)
REFERENCES = references.option("best")
IDF = Option(
    "idf",
    message("xbertscore.idf", "Sentences for idf weights"),
    "file",
    "",
    help=message(
        "xbertscore.idf-help",
        "A file with one sentence per line: the texts that outputs are compared with, such as all "
        "sources of the test set. Leave blank for equal weights.",
    ),
)


def make_info(
    name: str,
    label: str,
    options: Options,
    *,
    family: str = "xbertscore",
    description: Message | None = None,
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
        or message(
            "xbertscore.about",
            "Token similarity of output and {compared} under {checkpoint}, layer {layer}.",
            compared=COMPARED[compare],
            checkpoint=checkpoint,
            layer=options["layer"],
        ),
        citation=citation,
        shown=(f"{name}-{options['measure']}",),
        checkpoint=checkpoint,
        family=family,
        options=tuple(options.items()),
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; the checkpoint must have the layer."""
    check_layer(str(options["checkpoint"]), int(options["layer"]))
    return make_info(name, label, options)


FAMILY = Family(
    key="xbertscore",
    label="XBERTScore",
    description=message(
        "xbertscore.family",
        "Token similarity of output and source under any multilingual encoder.",
    ),
    scorer=SCORER,
    options=(
        Option(
            "checkpoint",
            ENCODER_LABEL,
            "checkpoint",
            "xlm-roberta-base",
            help=CHECKPOINT_HELP,
        ),
        Option("layer", LAYER_LABEL, "integer", 9, minimum=0, help=LAYER_HELP),
        COMPARE,
        REFERENCES,
        _SHOWN,
        IDF,
        PRECISION,
    ),
    describe=describe,
)
