"""Describe any COMET checkpoint. Imports neither Django nor torch: web and workers read it."""

from pathlib import Path

import yaml

from metaeval.messages import Message, message
from metrics.base import MetricError, MetricInfo, one_measure
from metrics.checkpoints import places
from metrics.families import references
from metrics.options import (
    CHECKPOINT_HELP,
    CHECKPOINT_LABEL,
    PRECISION,
    Family,
    Given,
    Option,
    OptionError,
    Options,
)

# The input of a unified model whose score is used; by default the mean of all three.
ALL, REFERENCE, TOGETHER = "all", "reference", "together"


def part_of(info: MetricInfo) -> str:
    """Return the input of a unified model that a metric uses."""
    return str(dict(info.options).get("input", ALL))


def make_info(
    name: str,
    label: str,
    checkpoint: str,
    needs_reference: bool,
    description: Message,
    citation: str,
    given: Given = (),
) -> MetricInfo:
    """Describe a COMET model: one score per segment; nearly all models use the source."""
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
    """Describe a configured metric; a checkpoint on this machine limits the options."""
    checkpoint = str(options["checkpoint"])
    fixed = _reads_reference(checkpoint)
    if fixed is not None and fixed != options["reference"]:
        if fixed:
            problem = message(
                "comet.reads-reference",
                "{checkpoint} uses a reference. Set this option to yes.",
                checkpoint=checkpoint,
            )
        else:
            problem = message(
                "comet.reads-no-reference",
                "{checkpoint} does not use a reference. Set this option to no.",
                checkpoint=checkpoint,
            )
        raise OptionError(problem, "reference")
    if not options["reference"] and options["input"] != ALL:
        problem = message(
            "comet.one-input",
            "Without a reference there is only one input. Set this option to {choice}.",
            choice=ALL,
        )
        raise OptionError(problem, "input")
    return make_info(
        name,
        label,
        checkpoint,
        description=message(
            "comet.about", "The COMET checkpoint {checkpoint}.", checkpoint=checkpoint
        ),
        citation="Rei et al. 2020, COMET: a neural framework for MT evaluation",
        needs_reference=bool(options["reference"]),
        given=options.items(),
    )


def _reads_reference(checkpoint: str) -> bool | None:
    """Return whether hparams.yaml says that the model uses a reference.

    None if the file allows both, cannot be read, or is on another machine.
    """
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
    description=message(
        "comet.family", "A trained COMET model. Its class is read from the checkpoint."
    ),
    scorer="extensions.neural.comet.scorer:Comet",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option("reference", message("option.reads-reference", "Uses a reference"), "boolean", True),
        references.option("first"),
        Option(
            "input",
            message("comet.input", "Input"),
            "choice",
            ALL,
            choices=(ALL, REFERENCE, TOGETHER),
            help=message(
                "comet.input-help",
                "For unified models (UniTE, xCOMET), which score an output three times: with the "
                "source, with the reference, and with both together.",
            ),
            is_rare=True,
        ),
        PRECISION,
    ),
    describe=describe,
    packages=("comet",),
)
