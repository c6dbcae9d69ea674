"""Describe checkpoints of BLEURT, COMET and MetricX. Imports neither Django nor torch."""

from pathlib import Path

import yaml

from metaeval.messages import Message, message
from metrics.base import MetricError, MetricInfo, one_measure
from metrics.checkpoints import places
from metrics.families import long_texts, passages, references
from metrics.options import (
    BASELINE_LIMITS,
    CHECKPOINT_HELP,
    CHECKPOINT_LABEL,
    PRECISION,
    Family,
    Given,
    Option,
    OptionError,
    Options,
)


def bleurt_info(
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


def describe_bleurt(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric."""
    checkpoint = str(options["checkpoint"])
    return bleurt_info(
        name,
        label,
        checkpoint,
        description=message(
            "bleurt.about", "The BLEURT checkpoint {checkpoint}.", checkpoint=checkpoint
        ),
        citation="Sellam et al. 2020, BLEURT: learning robust metrics for text generation",
        given=options.items(),
    )


BLEURT = Family(
    key="bleurt",
    label="BLEURT",
    description=message("bleurt.family", "A trained BLEURT model in the format of bleurt-pytorch."),
    limits=message(
        "limits.bleurt",
        "BLEURT-20 has 579 million weights and was tested on 13 languages (Pu et al. 2021). Some "
        "fixed texts score well against any reference (Yan et al. 2023).",
    ),
    scorer="extensions.neural.checkpoints.bleurt:Bleurt",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        references.option("mean"),
        *passages.OPTIONS,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_bleurt,
    packages=("bleurt_pytorch",),
)


# The input of a unified model whose score is used; by default the mean of all three.
ALL, REFERENCE, TOGETHER = "all", "reference", "together"


def part_of(info: MetricInfo) -> str:
    """Return the input of a unified model that a metric uses."""
    return str(dict(info.options).get("input", ALL))


def comet_info(
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


def describe_comet(name: str, label: str, options: Options) -> MetricInfo:
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
    return comet_info(
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


COMET = Family(
    key="comet",
    label="COMET",
    description=message(
        "comet.family", "A trained COMET model. Its class is read from the checkpoint."
    ),
    limits=message(
        "limits.comet",
        "COMET-22 has 580 million weights, xCOMET-XL 3.5 and XXL 10.7 billion, for about 100 "
        "languages of XLM-R. Wrong numbers and names change the score little (Amrhein and Sennrich "
        "2022). Empty outputs and outputs in another language may score well, and scores of "
        "language pairs cannot be compared (Zouhar et al. 2024).",
    ),
    scorer="extensions.neural.checkpoints.comet:Comet",
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
        *passages.OPTIONS_WITH_CONTEXT,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_comet,
    packages=("comet",),
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


def describe_sentinel(name: str, label: str, options: Options) -> MetricInfo:
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


SENTINEL = Family(
    key="sentinel",
    label=message("sentinel.family", "Sentinel"),
    description=message(
        "sentinel.family-about",
        "A released sentinel metric: a baseline that was trained like COMET but sees too little of "
        "the segment to measure quality.",
    ),
    limits=BASELINE_LIMITS,
    scorer="extensions.neural.checkpoints.comet:Comet",
    options=(
        Option("checkpoint", CHECKPOINT_LABEL, "checkpoint", help=CHECKPOINT_HELP),
        Option(
            "reads", message("sentinel.reads", "Uses"), "choice", "output", choices=tuple(SIDES)
        ),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_sentinel,
    packages=("comet",),
)


RELEASES = ("24", "23")
CITATIONS = {
    "23": "Juraska et al. 2023, MetricX-23: the Google submission to the WMT 2023 metrics task",
    "24": "Juraska et al. 2024, MetricX-24: the Google submission to the WMT 2024 metrics task",
}


def describe_metricx(name: str, label: str, options: Options) -> MetricInfo:
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


METRICX = Family(
    key="metricx",
    label="MetricX",
    description=message(
        "metricx.family", "A released MetricX-23 or MetricX-24 model, with or without reference."
    ),
    limits=message(
        "limits.metricx",
        "Large, XL and XXL have 1.2, 3.7 and 13 billion weights, for 101 languages of mT5. "
        "MetricX-23 misses omissions, missing punctuation and fluent texts that are unrelated to "
        "the source (Juraska et al. 2024).",
    ),
    scorer="extensions.neural.checkpoints.metricx:MetricX",
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
        *passages.OPTIONS,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_metricx,
    packages=("sentencepiece",),
)
