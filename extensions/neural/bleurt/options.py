"""Describe any BLEURT checkpoint. Imports neither Django nor torch: web and workers read it."""

from metaeval.messages import Message, message
from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    CHECKPOINT_LABEL,
    PRECISION,
    Family,
    Given,
    Option,
    Options,
)


def make_info(
    name: str,
    label: str,
    checkpoint: str,
    description: Message,
    citation: str,
    *,
    given: Given = (),
) -> MetricInfo:
    """Describe a BLEURT model: one score per segment, from output and reference."""
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
    """Describe a configured metric."""
    checkpoint = str(options["checkpoint"])
    return make_info(
        name,
        label,
        checkpoint,
        description=message(
            "bleurt.about", "The BLEURT checkpoint {checkpoint}.", checkpoint=checkpoint
        ),
        citation="Sellam et al. 2020, BLEURT: learning robust metrics for text generation",
        given=options.items(),
    )


FAMILY = Family(
    key="bleurt",
    label="BLEURT",
    description=message("bleurt.family", "A trained BLEURT model in the format of bleurt-pytorch."),
    scorer="extensions.neural.bleurt.scorer:Bleurt",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        references.option("mean"),
        PRECISION,
    ),
    describe=describe,
    packages=("bleurt_pytorch",),
)
