"""Any COMET checkpoint. Neither Django nor torch: web and workers read it."""

from pathlib import Path

import yaml

from metrics.base import MetricError, MetricInfo, one_measure
from metrics.checkpoints import places
from metrics.families import references
from metrics.options import PRECISION, Family, Given, Option, Options

# Which of the three inputs of a unified model count; the mean of all is its score.
ALL, REFERENCE, TOGETHER = "all", "reference", "together"


def part_of(info: MetricInfo) -> str:
    """Return which of a unified model's inputs a metric is of."""
    return str(dict(info.options).get("input", ALL))


def make_info(
    name: str,
    label: str,
    checkpoint: str,
    needs_reference: bool,
    description: str,
    citation: str,
    given: Given = (),
) -> MetricInfo:
    """Describe a COMET model: one score a segment; nearly all of them read the source."""
    options = tuple(given)
    return one_measure(
        name,
        label,
        needs_source=dict(options).get("input") != REFERENCE,
        needs_reference=needs_reference,
        queue="gpu",
        description=description,
        citation=citation,
        checkpoint=checkpoint,
        family="comet",
        options=options,
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured one; where the checkpoint is here, it says what can be set."""
    checkpoint = str(options["checkpoint"])
    fixed = _reads_reference(checkpoint)
    if fixed is not None and fixed != options["reference"]:
        answer = "reads a reference: set yes" if fixed else "reads no reference: set no"
        raise ValueError(f"Reads a reference: {checkpoint} {answer}.")
    if not options["reference"] and options["input"] != ALL:
        raise ValueError(f"Which input: without a reference there is one alone: set {ALL}.")
    return make_info(
        name,
        label,
        checkpoint,
        description=f"The COMET checkpoint {checkpoint}.",
        citation="Rei et al. 2020, COMET: a neural framework for MT evaluation",
        needs_reference=bool(options["reference"]),
        given=options.items(),
    )


def _reads_reference(checkpoint: str) -> bool | None:
    """What hparams.yaml says; None where it leaves the choice, cannot be read, or is elsewhere."""
    try:
        path = Path(places.find(checkpoint)) / "hparams.yaml"
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (MetricError, OSError, ValueError, yaml.YAMLError):
        return None
    if not isinstance(settings, dict):
        return None
    kind = settings.get("class_identifier")
    if kind in ("regression_metric", "ranking_metric", "referenceless_regression_metric"):
        return bool(kind != "referenceless_regression_metric")
    segments = settings.get("input_segments")
    return False if kind == "unified_metric" and "ref" not in (segments or ["ref"]) else None


FAMILY = Family(
    key="comet",
    label="COMET",
    description="A trained COMET model; its class is read from the checkpoint.",
    scorer="extensions.neural.comet.scorer:Comet",
    options=(
        Option("checkpoint", "Checkpoint", "checkpoint", help="A hub's name or a directory."),
        Option("reference", "Reads a reference", "boolean", True),
        references.option("first"),
        Option(
            "input",
            "Which input",
            "choice",
            ALL,
            choices=(ALL, REFERENCE, TOGETHER),
            help="Of unified models (UniTE, xCOMET), which read an output three times: with the "
            "source, with the reference, and with both together.",
            is_rare=True,
        ),
        PRECISION,
    ),
    describe=describe,
    packages=("comet",),
)
