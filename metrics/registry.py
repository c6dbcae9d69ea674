"""The metrics by name. Importing this module imports no metric: the web process stays light."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from metrics import options
from metrics.base import Metric, MetricError, MetricInfo
from metrics.families import reference_free
from metrics.families.bertscore import options as bertscore
from metrics.families.bleurt import options as bleurt
from metrics.families.comet import options as comet
from metrics.families.lexical import infos as lexical
from metrics.families.moverscore import options as moverscore
from metrics.families.xmoverscore import options as xmoverscore

_REI_2020 = "Rei et al. 2020, COMET: a neural framework for MT evaluation"
_REI_2021 = "Rei et al. 2021, Are references really needed?"
_BERTSCORE = "metrics.families.bertscore.scorer:BertScore"
_COMET = "metrics.families.comet.scorer:Comet"


def _bertscore(name: str, label: str, layers: int, shown: str, checkpoint: str) -> MetricInfo:
    return bertscore.make_info(
        f"bertscore-{name}", f"BERTScore {label}", checkpoint, layers=layers, shown=(shown,)
    )


def _comet(
    name: str, label: str, checkpoint: str, description: str, citation: str, *, reference: bool
) -> MetricInfo:
    return comet.make_info(
        name,
        label,
        checkpoint,
        description=description,
        citation=citation,
        needs_reference=reference,
    )


def _xmoverscore(definition: str, label: str) -> tuple[MetricInfo, str]:
    given = {"checkpoint": "bert-base-multilingual-cased", "definition": definition}
    chosen = options.clean(xmoverscore.FAMILY, given)
    chosen["layer"] = xmoverscore.resolve_layer(chosen, layers=13)
    info = xmoverscore.make_info(f"xmoverscore-{definition}", f"XMoverScore {label}", chosen)
    return info, xmoverscore.FAMILY.scorer


def _moverscore() -> tuple[MetricInfo, str]:
    chosen = options.clean(moverscore.FAMILY, {"checkpoint": "distilbert-base-uncased"})
    return moverscore.make_info("moverscore", "MoverScore", chosen), moverscore.FAMILY.scorer


METRICS: dict[str, tuple[MetricInfo, str]] = {
    **lexical.METRICS,
    # Layers and measures recommended in Cheng et al. 2023, section 5: 8-R, 11-F1, 13-F1, 41-F1.
    "bertscore-mbert": (
        _bertscore("mbert", "mBERT", 13, "8-r", "bert-base-multilingual-cased"),
        _BERTSCORE,
    ),
    "bertscore-bart": (
        _bertscore("bart", "BART", 13, "11-f", "facebook/bart-large-mnli"),
        _BERTSCORE,
    ),
    "bertscore-roberta": (
        _bertscore("roberta", "RoBERTa", 25, "13-f", "roberta-large-mnli"),
        _BERTSCORE,
    ),
    "bertscore-deberta": (
        _bertscore("deberta", "DeBERTa", 49, "41-f", "microsoft/deberta-xlarge-mnli"),
        _BERTSCORE,
    ),
    "wmt20-comet-da": (
        _comet(
            *("wmt20-comet-da", "COMET-20", "Unbabel/wmt20-comet-da"),
            *("Trained on direct assessments until WMT19.", _REI_2020),
            reference=True,
        ),
        _COMET,
    ),
    "wmt21-comet-mqm": (
        _comet(
            *("wmt21-comet-mqm", "COMET-MQM-21", "Unbabel/wmt21-comet-mqm"),
            *("Trained on direct assessments, then on MQM scores.", _REI_2021),
            reference=True,
        ),
        _COMET,
    ),
    "wmt21-comet-qe-da": (
        _comet(
            *("wmt21-comet-qe-da", "COMET-QE-DA-21", "Unbabel/wmt21-comet-qe-da"),
            *("Trained on direct assessments; reads no reference.", _REI_2021),
            reference=False,
        ),
        _COMET,
    ),
    "wmt22-comet-da": (
        _comet(
            *("wmt22-comet-da", "COMET-22", "Unbabel/wmt22-comet-da"),
            *("Trained on direct assessments until WMT21.", "Rei et al. 2022, COMET-22"),
            reference=True,
        ),
        _COMET,
    ),
    "wmt22-cometkiwi-da": (
        _comet(
            *("wmt22-cometkiwi-da", "CometKiwi-22", "Unbabel/wmt22-cometkiwi-da"),
            "Reads source and output together, and no reference.",
            "Rei et al. 2022, CometKiwi",
            reference=False,
        ),
        _COMET,
    ),
    "xcomet-xl": (
        _comet(
            *("xcomet-xl", "xCOMET-XL", "Unbabel/XCOMET-XL"),
            "Reads source, output and reference together; also trained on error spans.",
            "Guerreiro et al. 2023, xCOMET",
            reference=True,
        ),
        _COMET,
    ),
    "bleurt-20": (
        bleurt.make_info(
            *("bleurt-20", "BLEURT-20", "lucadiliello/BLEURT-20"),
            description="Reads reference and output together; trained on ratings until WMT19.",
            citation="Pu et al. 2021, Learning compact metrics for MT",
        ),
        "metrics.families.bleurt.scorer:Bleurt",
    ),
    "moverscore": _moverscore(),
    "xmoverscore-release-2020": _xmoverscore("release-2020", "2020"),
    "xmoverscore-head-2022": _xmoverscore("head-2022", "2022"),
    "xmoverscore-paper": _xmoverscore("paper", "as published"),
    **reference_free.METRICS,
}


# Families that an admin configures, by key: dotted paths of their descriptions.
FAMILIES: dict[str, str] = {
    "bertscore": "metrics.families.bertscore.options:FAMILY",
    "comet": "metrics.families.comet.options:FAMILY",
    "bleurt": "metrics.families.bleurt.options:FAMILY",
    "moverscore": "metrics.families.moverscore.options:FAMILY",
    "xmoverscore": "metrics.families.xmoverscore.options:FAMILY",
    "xbertscore": "metrics.families.xbertscore.options:FAMILY",
    "refreeeval": "metrics.families.refreeeval.options:FAMILY",
    "refreeeval-head": "metrics.families.refreeeval.head_options:FAMILY",
    "sentsim": "metrics.families.sentsim.options:FAMILY",
    "yisi": "metrics.families.yisi.options:FAMILY",
    "yisi-static": "metrics.families.yisi.options:STATIC_FAMILY",
    "yisi-0": "metrics.families.yisi.options:LETTERS_FAMILY",
    "cosine": "metrics.families.cosine.options:FAMILY",
    "wmd": "metrics.families.wmd.options:FAMILY",
    "sentbleu-wmt": "metrics.families.lexical.options:FAMILY",
}


def get_family(key: str) -> options.Family:
    """Return a family that can be configured; a permanent :class:`MetricError` for others."""
    if key not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise MetricError(f"Unknown family {key!r}; known: {known}", permanent=True)
    module, _, name = FAMILIES[key].partition(":")
    family: options.Family = getattr(import_module(module), name)
    return family


def configure(key: str, name: str, label: str, given: Mapping[str, Any]) -> MetricInfo:
    """Describe a metric of a family; ValueError with a sentence for options that do not fit."""
    family = get_family(key)
    return family.describe(name, label, options.clean(family, given))


def get_info(name: str) -> MetricInfo:
    """Return the description of a metric; a permanent :class:`MetricError` for unknown names."""
    return _entry(name)[0]


def load(name: str, *, source_language: str, target_language: str) -> Metric:
    """Import and create a metric for a language pair (codes such as ``zh``, ``zh-Hant``, ``en``).

    Raises a permanent :class:`MetricError` for an unknown name and for a missing package.
    """
    info, path = _entry(name)
    return build(info, path, source_language=source_language, target_language=target_language)


def build(info: MetricInfo, path: str, *, source_language: str, target_language: str) -> Metric:
    """Import the class at a dotted path and create the metric that ``info`` describes."""
    module, _, class_name = path.partition(":")
    try:
        scorer = getattr(import_module(module), class_name)
    except ModuleNotFoundError as error:
        raise MetricError(
            f"{info.label} needs the package {error.name}: pip install -r requirements.txt",
            permanent=True,
        ) from error
    metric: Metric = scorer(info, source_language=source_language, target_language=target_language)
    return metric


def available(
    *, has_source: bool = True, has_references: bool = True, queue: str | None = None
) -> list[MetricInfo]:
    """List, in registry order, the metrics that run on what a test set has (on ``queue``)."""
    return [
        info
        for info, _ in METRICS.values()
        if (has_source or not info.needs_source)
        and (has_references or not info.needs_reference)
        and (queue is None or info.queue == queue)
    ]


def _entry(name: str) -> tuple[MetricInfo, str]:
    if name not in METRICS:
        raise MetricError(f"Unknown metric {name!r}; known: {', '.join(METRICS)}", permanent=True)
    return METRICS[name]
