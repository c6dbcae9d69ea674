"""Describe COSINE and SentSim on any encoders. Imports neither Django nor torch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extensions.neural.bertscore.options import COMPARE, COMPARED, REFERENCES
from extensions.neural.mover.options import LANGUAGE_MODEL, LM_WEIGHT, MAPPING_LABEL
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.families import long_texts
from metrics.options import (
    ACROSS_LIMITS,
    PRECISION,
    Option,
    OptionError,
    Options,
    check_layer,
    clean_all,
)
from metrics.plugins import Plugin


def cosine_info(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the cosine and, with a language model, the coupled score and the model's term."""
    compare, checkpoint = str(options["compare"]), str(options["checkpoint"])
    has_lm = bool(options["language-model"])
    return MetricInfo(
        name=name,
        label=label,
        measures=(name, f"{name}-lm", f"{name}-term") if has_lm else (name,),
        measure_labels=(label, f"{label} + LM", f"{label} LM") if has_lm else (label,),
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",
        description=message(
            "cosine.about",
            "Cosine of the sentence vectors of output and {compared} under {checkpoint}.",
            compared=COMPARED[compare],
            checkpoint=checkpoint,
        ),
        citation="Zhao et al. 2020, On the limitations of cross-lingual encoders as exposed by "
        "reference-free machine translation evaluation",
        shown=(f"{name}-lm",) if has_lm else (),
        checkpoint=checkpoint,
        family="cosine",
        options=tuple(options.items()),
    )


def describe_cosine(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric.

    Raises OptionError for a mapping if outputs are compared with references.
    """
    if options["mapping"] and options["compare"] != "source":
        problem = message(
            "cosine.mapping-of-sources",
            "A mapping applies to sources, but this metric compares outputs with references.",
        )
        raise OptionError(problem, "mapping")
    return cosine_info(name, label, options)


SENTENCE_ENCODER = message("option.sentence-encoder", "Sentence encoder")
SENTENCE_ENCODER_HELP = message(
    "option.sentence-encoder-help",
    "Any model of sentence-transformers, or an encoder whose token vectors are averaged.",
)
COSINE_PLUGIN = Plugin(
    label=message("family.cosine", "Cosine"),
    description=message(
        "cosine.family", "Cosine of two sentence vectors: output and source or reference."
    ),
    limits=ACROSS_LIMITS,
    scorer="extensions.neural.sentences.cosine:Cosine",
    options=(
        Option(
            "checkpoint",
            SENTENCE_ENCODER,
            "checkpoint",
            help=SENTENCE_ENCODER_HELP,
        ),
        COMPARE,
        REFERENCES,
        Option(
            "mapping",
            MAPPING_LABEL,
            "file",
            "",
            help=message(
                "cosine.mapping-help",
                "The folder of a mapping that was fitted on sentence vectors; blank for none.",
            ),
        ),
        LANGUAGE_MODEL,
        Option(
            "weight", message("cosine.weight", "Weight of the cosine"), "number", 1.0, minimum=0
        ),
        LM_WEIGHT,
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_cosine,
)
_LABSE = clean_all(COSINE_PLUGIN.options, {"checkpoint": "sentence-transformers/LaBSE"})
KNOWN_COSINE = (cosine_info("cosine-labse", "Cosine LaBSE", _LABSE),)


# Combine three parts as SentSim does (Song et al. 2021). Imports only numpy.
#
# The published scores scale every part to its minimum and maximum over the test set, so a
# segment's score depends on all other segments. Here the ranges are fitted once and then fixed.
# With ranges fitted on a test set its scores equal the published ones, and other texts are scored
# on the same scale.


Array = NDArray[np.float64]
PARTS = ("cosine", "f", "wmd")


@dataclass(frozen=True)
class Ranges:
    """Hold (minimum, maximum) of sentence cosine, token F1 and word mover's distance."""

    cosine: tuple[float, float]
    f: tuple[float, float]
    wmd: tuple[float, float]

    def __post_init__(self) -> None:
        for part in PARTS:
            low, high = getattr(self, part)
            if not low < high:
                problem = message(
                    "sentsim.range-order",
                    "The maximum of {part} must be greater than its minimum.",
                    part=part,
                )
                raise OptionError(problem, f"{part}-max")


def fit(cosine: Array, f: Array, wmd: Array) -> Ranges:
    """Return the ranges of a test set; ValueError if a part has fewer than two values."""
    parts = zip(PARTS, (cosine, f, wmd), strict=True)
    return Ranges(**{part: _range(part, values) for part, values in parts})


def _range(part: str, values: Array) -> tuple[float, float]:
    if len(np.unique(values)) < 2:
        raise OptionError(
            message(
                "sentsim.no-range",
                "All values of {part} are the same, so there is no range to scale by.",
                part=part,
            )
        )
    return float(values.min()), float(values.max())


def combine(cosine: Array, f: Array, wmd: Array, ranges: Ranges) -> Array:
    """Return combinations, (n, 3): cosine with F1, cosine with distance, and all three.

    exp(A') + exp(B'), exp(A') + exp(1 - W'), and the sum of all three terms, with v' = (v - min) /
    (max - min). Values outside the fitted range are scaled in the same way, not limited.
    """
    a = np.exp(_scale(cosine, ranges.cosine))
    b = np.exp(_scale(f, ranges.f))
    w = np.exp(1 - _scale(wmd, ranges.wmd))
    return np.stack([a + b, a + w, a + b + w], axis=1)


def _scale(values: Array, bounds: tuple[float, float]) -> Array:
    low, high = bounds
    return (values - low) / (high - low)


# Stored so that more is better in every column: distances are negated.
_RAW = (("cosine", "cosine"), ("f", "F1"), ("wmd", "−WMD"), ("smd", "−SMD"))
_COMBINED = (
    ("cosine-f", "cosine + F1"),
    ("cosine-wmd", "cosine + WMD"),
    ("all", "cosine + F1 + WMD"),
)
_WORDS = {"cosine": message("family.cosine", "Cosine"), "f": "F1", "wmd": "WMD"}
_RANGE_HELP = message(
    "sentsim.range-help",
    "Leave all six numbers at 0 to compute only the parts; manage.py fit_sentsim sets them.",
)


def _range_options() -> Iterator[Option]:
    for part in PARTS:
        smallest = message("sentsim.smallest", "{part}: smallest", part=_WORDS[part])
        largest = message("sentsim.largest", "{part}: largest", part=_WORDS[part])
        yield Option(f"{part}-min", smallest, "number", 0.0, help=_RANGE_HELP)
        yield Option(f"{part}-max", largest, "number", 0.0, help=_RANGE_HELP)


def find_ranges(options: Options) -> Ranges | None:
    """Return the fitted ranges; None if all six numbers are 0, ValueError if only some are."""
    ends = {part: (float(options[f"{part}-min"]), float(options[f"{part}-max"])) for part in PARTS}
    if not any(value for pair in ends.values() for value in pair):
        return None
    return Ranges(**ends)


def sentsim_info(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the parts and, with ranges, the three combinations."""
    is_fitted = find_ranges(options) is not None
    shown = _COMBINED if is_fitted else _RAW[:3]
    columns = (*_RAW, *_COMBINED) if is_fitted else _RAW
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(f"{name}-{key}" for key, _ in columns),
        measure_labels=tuple(f"{label} {word}" for _, word in columns),
        needs_source=True,
        needs_reference=False,
        queue="gpu",
        description=message(
            "sentsim.about",
            "Sentence cosine combined with token similarity of output and source, scaled by fixed "
            "ranges.",
        )
        if is_fitted
        else message(
            "sentsim.about-parts",
            "Sentence cosine and token similarity of output and source, not combined; ranges can "
            "be fitted to these parts.",
        ),
        citation="Song et al. 2021, SentSim: crosslingual semantic evaluation of machine "
        "translation",
        shown=tuple(f"{name}-{key}" for key, _ in shown),
        checkpoint=str(options["checkpoint"]),
        family="sentsim",
        options=tuple(options.items()),
    )


def describe_sentsim(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; the token encoder must have the layer."""
    check_layer(str(options["encoder"]), int(options["layer"]))
    return sentsim_info(name, label, options)


SENTSIM_PLUGIN = Plugin(
    label="SentSim",
    description=message(
        "sentsim.family",
        "Sentence cosine of output and source, combined with token F1 or word mover’s distance.",
    ),
    limits=ACROSS_LIMITS,
    scorer="extensions.neural.sentences.sentsim:SentSim",
    options=(
        Option(
            "checkpoint",
            SENTENCE_ENCODER,
            "checkpoint",
            "sentence-transformers/xlm-r-bert-base-nli-stsb-mean-tokens",
            help=SENTENCE_ENCODER_HELP,
        ),
        Option(
            "encoder",
            message("sentsim.encoder", "Token encoder"),
            "checkpoint",
            "xlm-roberta-base",
        ),
        Option(
            "layer", message("sentsim.layer", "Layer of the token encoder"), "integer", 9, minimum=0
        ),
        *_range_options(),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_sentsim,
    packages=("ot",),
)
KNOWN_SENTSIM = (sentsim_info("sentsim", "SentSim", clean_all(SENTSIM_PLUGIN.options, {})),)
