"""Describe SentSim on any two encoders. Imports neither Django nor torch."""

from collections.abc import Iterator

from extensions.neural.cosine.options import SENTENCE_ENCODER, SENTENCE_ENCODER_HELP
from extensions.neural.sentsim.combine import PARTS, Ranges
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.options import PRECISION, Option, Options, check_layer, clean_all
from metrics.plugins import Plugin

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


def make_info(name: str, label: str, options: Options) -> MetricInfo:
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


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric; the token encoder must have the layer."""
    check_layer(str(options["encoder"]), int(options["layer"]))
    return make_info(name, label, options)


PLUGIN = Plugin(
    label="SentSim",
    description=message(
        "sentsim.family",
        "Sentence cosine of output and source, combined with token F1 or word mover’s distance.",
    ),
    scorer="extensions.neural.sentsim.scorer:SentSim",
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
        PRECISION,
    ),
    describe=describe,
    packages=("ot",),
)
KNOWN = (make_info("sentsim", "SentSim", clean_all(PLUGIN.options, {})),)
