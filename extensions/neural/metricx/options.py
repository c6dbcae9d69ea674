"""Any MetricX checkpoint of 2023 or 2024. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.families import references
from metrics.options import PRECISION, Family, Option, Options

RELEASES = ("24", "23")
CITATIONS = {
    "23": "Juraska et al. 2023, MetricX-23: the Google submission to the WMT 2023 metrics task",
    "24": "Juraska et al. 2024, MetricX-24: the Google submission to the WMT 2024 metrics task",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a predicted error: 0 is flawless, 25 the worst."""
    release, reads_reference = str(options["release"]), bool(options["reference"])
    read = "output and reference" if reads_reference else "source and output"
    if release == "24" and reads_reference:
        read = "source, output and reference"
    return one_measure(
        name,
        label,
        needs_source=release == "24" or not reads_reference,
        needs_reference=reads_reference,
        higher_is_better=False,
        queue="gpu",
        description=f"Reads {read} together; an error from 0 to 25, lower is better.",
        citation=CITATIONS[release],
        checkpoint=str(options["checkpoint"]),
        family="metricx",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="metricx",
    label="MetricX",
    description="A released MetricX-23 or MetricX-24 model, with or without reference.",
    scorer="extensions.neural.metricx.scorer:MetricX",
    options=(
        Option("checkpoint", "Checkpoint", "checkpoint", help="A hub's name or a directory."),
        Option(
            "release",
            "Release",
            "choice",
            "24",
            choices=RELEASES,
            help="Says how the texts are put together, and where they are cut.",
        ),
        Option(
            "reference",
            "Reads a reference",
            "boolean",
            True,
            help="Models of 2024 do both; of 2023 those named qe read none.",
        ),
        Option(
            "tokenizer",
            "Tokenizer",
            "checkpoint",
            "google/mt5-xl",
            help="MetricX comes without one: that of any mT5, which are all the same.",
            is_rare=True,
        ),
        references.option("first"),
        PRECISION,
    ),
    describe=describe,
    packages=("sentencepiece",),
)
