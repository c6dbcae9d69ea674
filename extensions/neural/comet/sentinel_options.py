"""Describe released sentinel metrics. Imports neither Django nor torch."""

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.options import (
    CHECKPOINT_HELP,
    CHECKPOINT_LABEL,
    PRECISION,
    Family,
    Option,
    Options,
)

# The values of the option, and the names of the texts in hparams.yaml.
SIDES = {"output": "mt", "source": "src", "reference": "ref"}
DESCRIPTIONS = {
    "output": message(
        "sentinel.output",
        "Uses only the output, not the source. A metric that is not better than this baseline does "
        "not measure quality.",
    ),
    "source": message(
        "sentinel.source",
        "Uses only the source, so all outputs of a segment get the same score. A metric that is "
        "not better than this baseline does not measure quality.",
    ),
    "reference": message(
        "sentinel.reference",
        "Uses only the reference, so all outputs of a segment get the same score. A metric that is "
        "not better than this baseline does not measure quality.",
    ),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a trained baseline: one score per segment, from one of its texts."""
    reads = str(options["reads"])
    return one_measure(
        name,
        label,
        needs_source=reads == "source",
        needs_reference=reads == "reference",
        queue="gpu",
        description=DESCRIPTIONS[reads],
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        checkpoint=str(options["checkpoint"]),
        family="sentinel",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="sentinel",
    label=message("sentinel.family", "Sentinel"),
    description=message(
        "sentinel.family-about",
        "A released sentinel metric: a baseline that was trained like COMET but sees too little of "
        "the segment to measure quality.",
    ),
    scorer="extensions.neural.comet.scorer:Comet",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "reads", message("sentinel.reads", "Uses"), "choice", "output", choices=tuple(SIDES)
        ),
        PRECISION,
    ),
    describe=describe,
    packages=("comet",),
)
