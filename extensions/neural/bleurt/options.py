"""Any BLEURT checkpoint. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import PRECISION, Family, Given, Option, Options


def make_info(
    name: str, label: str, checkpoint: str, description: str, citation: str, *, given: Given = ()
) -> MetricInfo:
    """Describe a BLEURT model: one score a segment, from output and reference."""
    return one_measure(
        name,
        label,
        needs_source=False,
        needs_reference=True,
        queue="gpu",
        description=description,
        citation=citation,
        checkpoint=checkpoint,
        family="bleurt",
        options=tuple(given),
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one."""
    checkpoint = str(options["checkpoint"])
    return make_info(
        name,
        label,
        checkpoint,
        description=f"The BLEURT checkpoint {checkpoint}.",
        citation="Sellam et al. 2020, BLEURT: learning robust metrics for text generation",
        given=options.items(),
    )


FAMILY = Family(
    key="bleurt",
    label="BLEURT",
    description="A trained BLEURT model in the format of bleurt-pytorch.",
    scorer="extensions.neural.bleurt.scorer:Bleurt",
    options=(
        Option("checkpoint", "Checkpoint", "checkpoint", help="A hub's name or a directory."),
        references.option("mean"),
        PRECISION,
    ),
    describe=describe,
    packages=("bleurt_pytorch",),
)
