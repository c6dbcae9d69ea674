"""The metrics by name. Importing this module imports no metric: the web process stays light."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from metrics import options, plugins
from metrics.base import Metric, MetricError, MetricInfo
from metrics.families import classic, recent, reference_free
from metrics.families.bertscore import options as bertscore
from metrics.families.bleurt import options as bleurt
from metrics.families.comet import options as comet
from metrics.families.lexical import infos as lexical
from metrics.families.xmoverscore import options as xmoverscore

_REI_2020 = "Rei et al. 2020, COMET: a neural framework for MT evaluation"
_REI_2021 = "Rei et al. 2021, Are references really needed?"
Entry = tuple[MetricInfo, str]


def _bertscore(name: str, label: str, layers: int, shown: str, checkpoint: str) -> Entry:
    name, label = f"bertscore-{name}", f"BERTScore {label}"
    info = bertscore.make_info(name, label, checkpoint, layers=layers, shown=(shown,))
    return info, bertscore.FAMILY.scorer


def _comet(checkpoint: str, label: str, reference: bool, description: str, citation: str) -> Entry:
    name = checkpoint.partition("/")[2].lower()
    info = comet.make_info(name, label, checkpoint, reference, description, citation)
    return info, comet.FAMILY.scorer


def _bleurt() -> Entry:
    info = bleurt.make_info(
        *("bleurt-20", "BLEURT-20", "lucadiliello/BLEURT-20"),
        description="Reads reference and output together; trained on ratings until WMT19.",
        citation="Pu et al. 2021, Learning compact metrics for MT",
    )
    return info, bleurt.FAMILY.scorer


def _xmoverscore(definition: str, label: str) -> Entry:
    given = {"checkpoint": "bert-base-multilingual-cased", "definition": definition}
    chosen = options.clean(xmoverscore.FAMILY, given)
    chosen["layer"] = xmoverscore.resolve_layer(chosen, layers=13)
    info = xmoverscore.make_info(f"xmoverscore-{definition}", f"XMoverScore {label}", chosen)
    return info, xmoverscore.FAMILY.scorer


_NEURAL: tuple[Entry, ...] = (
    # Layers and measures recommended in Cheng et al. 2023, section 5: 8-R, 11-F1, 13-F1, 41-F1.
    _bertscore("mbert", "mBERT", 13, "8-r", "bert-base-multilingual-cased"),
    _bertscore("bart", "BART", 13, "11-f", "facebook/bart-large-mnli"),
    _bertscore("roberta", "RoBERTa", 25, "13-f", "roberta-large-mnli"),
    _bertscore("deberta", "DeBERTa", 49, "41-f", "microsoft/deberta-xlarge-mnli"),
    _comet(
        *("Unbabel/wmt20-comet-da", "COMET-20", True),
        *("Trained on direct assessments until WMT19.", _REI_2020),
    ),
    _comet(
        *("Unbabel/wmt21-comet-mqm", "COMET-MQM-21", True),
        *("Trained on direct assessments, then on MQM scores.", _REI_2021),
    ),
    _comet(
        *("Unbabel/wmt21-comet-qe-da", "COMET-QE-DA-21", False),
        *("Trained on direct assessments; reads no reference.", _REI_2021),
    ),
    _comet(
        *("Unbabel/wmt22-comet-da", "COMET-22", True),
        *("Trained on direct assessments until WMT21.", "Rei et al. 2022, COMET-22"),
    ),
    _comet(
        *("Unbabel/wmt22-cometkiwi-da", "CometKiwi-22", False),
        *("Reads source and output together, and no reference.", "Rei et al. 2022, CometKiwi"),
    ),
    _comet(
        *("Unbabel/XCOMET-XL", "xCOMET-XL", True),
        "Reads source, output and reference together; also trained on error spans.",
        "Guerreiro et al. 2023, xCOMET",
    ),
    _bleurt(),
    _xmoverscore("release-2020", "2020"),
    _xmoverscore("head-2022", "2022"),
    _xmoverscore("paper", "as published"),
)
METRICS: dict[str, Entry] = {
    **lexical.METRICS,
    **{info.name: (info, scorer) for info, scorer in _NEURAL},
    **reference_free.METRICS,
    **recent.METRICS,
    **classic.known(),
}


# Families that an admin configures, by key: dotted paths of their descriptions.
FAMILIES: dict[str, str] = {
    "bertscore": "metrics.families.bertscore.options:FAMILY",
    "comet": "metrics.families.comet.options:FAMILY",
    "bleurt": "metrics.families.bleurt.options:FAMILY",
    "sentinel": "metrics.families.comet.sentinel_options:FAMILY",
    "metricx": "metrics.families.metricx.options:FAMILY",
    "xmoverscore": "metrics.families.xmoverscore.options:FAMILY",
    "xbertscore": "metrics.families.xbertscore.options:FAMILY",
    "refreeeval": "metrics.families.refreeeval.options:FAMILY",
    "refreeeval-head": "metrics.families.refreeeval.head_options:FAMILY",
    "sentbleu-wmt": "metrics.families.lexical.options:FAMILY",
    "lexical": "metrics.families.lexical.options:LEXICAL",
    "floor": "metrics.families.floor.options:FAMILY",
    "trained-sentinel": "metrics.families.sentinels.options:FAMILY",
}


def extend(families: Mapping[str, str], known: Mapping[str, Entry]) -> None:
    """Add the families and the known metrics of extensions."""
    FAMILIES.update(families)
    METRICS.update(known)


def has_family(key: str) -> bool:
    """Whether a family can be configured: ours, or that of a plug-in here or on a worker."""
    found = _plugin(key)
    return key in FAMILIES or (found is not None and found.plugin is not None)


def _plugin(key: str) -> plugins.Found | None:
    return plugins.everywhere().get(key) if "--" in key else classic.found().get(key)


def our_keys() -> list[str]:
    """Return the keys of the families that come with Touchstone."""
    return [*FAMILIES, *classic.found()]


def family_keys() -> list[str]:
    """Return the keys of all families, ours first."""
    return [*our_keys(), *(key for key, found in plugins.everywhere().items() if found.plugin)]


def get_family(key: str) -> options.Family:
    """Return a family that can be configured; a permanent :class:`MetricError` for others."""
    if key not in FAMILIES:
        found = _plugin(key)
        if found is not None and found.family is not None:
            return found.family
        known = ", ".join(family_keys())
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


def _entry(name: str) -> Entry:
    if name not in METRICS:
        raise MetricError(f"Unknown metric {name!r}; known: {', '.join(METRICS)}", permanent=True)
    return METRICS[name]
