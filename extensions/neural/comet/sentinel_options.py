"""Released sentinel metrics. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.options import PRECISION, Family, Option, Options

# What an admin chooses, and how a checkpoint's hparams.yaml calls it.
SIDES = {"output": "mt", "source": "src", "reference": "ref"}
BLIND = {
    "output": "Reads the output alone, and never what it translates.",
    "source": "Reads the source alone: all outputs of a segment get the same.",
    "reference": "Reads the reference alone: all outputs of a segment get the same.",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a trained floor: one score a segment, from one of its texts."""
    reads = str(options["reads"])
    return one_measure(
        name,
        label,
        needs_source=reads == "source",
        needs_reference=reads == "reference",
        queue="gpu",
        description=f"{BLIND[reads]} A metric that is no better has found nothing.",
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        checkpoint=str(options["checkpoint"]),
        family="sentinel",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="sentinel",
    label="Sentinel",
    description="A released sentinel metric: trained as COMET is, and reading too little.",
    scorer="extensions.neural.comet.scorer:Comet",
    options=(
        Option("checkpoint", "Checkpoint", "checkpoint", help="A hub's name or a directory."),
        Option("reads", "Reads", "choice", "output", choices=tuple(SIDES)),
        PRECISION,
    ),
    describe=describe,
    packages=("comet",),
)
