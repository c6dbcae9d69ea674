"""Describe MetricX checkpoints of 2023 and 2024. Imports neither Django nor torch."""

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    CHECKPOINT_LABEL,
    PRECISION,
    Family,
    Option,
    Options,
)

RELEASES = ("24", "23")
CITATIONS = {
    "23": "Juraska et al. 2023, MetricX-23: the Google submission to the WMT 2023 metrics task",
    "24": "Juraska et al. 2024, MetricX-24: the Google submission to the WMT 2024 metrics task",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a predicted error: 0 is flawless, 25 the worst."""
    release, reads_reference = str(options["release"]), bool(options["reference"])
    if not reads_reference:
        about = message(
            "metricx.source",
            "Uses source and output together. Predicts an error from 0 to 25; lower is better.",
        )
    elif release == "24":
        about = message(
            "metricx.source-and-reference",
            "Uses source, output and reference together. Predicts an error from 0 to 25; lower is "
            "better.",
        )
    else:
        about = message(
            "metricx.reference",
            "Uses output and reference together. Predicts an error from 0 to 25; lower is better.",
        )
    return one_measure(
        name,
        label,
        needs_source=release == "24" or not reads_reference,
        needs_reference=reads_reference,
        higher_is_better=False,
        queue="gpu",
        description=about,
        citation=CITATIONS[release],
        checkpoint=str(options["checkpoint"]),
        family="metricx",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="metricx",
    label="MetricX",
    description=message(
        "metricx.family", "A released MetricX-23 or MetricX-24 model, with or without reference."
    ),
    scorer="extensions.neural.metricx.scorer:MetricX",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "release",
            message("metricx.release", "Release"),
            "choice",
            "24",
            choices=RELEASES,
            help=message(
                "metricx.release-help",
                "Determines how the texts are joined and where they are truncated.",
            ),
        ),
        Option(
            "reference",
            message("option.reads-reference", "Uses a reference"),
            "boolean",
            True,
            help=message(
                "metricx.reference-help",
                "Models of 2024 work with and without a reference. Models of 2023 that are named "
                "qe do not use one.",
            ),
        ),
        Option(
            "tokenizer",
            message("option.tokenizer", "Tokenizer"),
            "checkpoint",
            "google/mt5-xl",
            help=message(
                "metricx.tokenizer-help",
                "MetricX has no tokenizer of its own. Use that of any mT5; they are identical.",
            ),
            is_rare=True,
        ),
        references.option("first"),
        PRECISION,
    ),
    describe=describe,
    packages=("sentencepiece",),
)
