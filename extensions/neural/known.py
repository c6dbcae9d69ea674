"""List the neural metrics that are offered without configuration.

Checkpoints have the names under which their authors published them on the hub; otherwise they are
those that papers used, or the closest public ones.
"""

from extensions.neural.bertscore import options as bertscore
from extensions.neural.checkpoints import options as checkpoints
from extensions.neural.mover import options as xmoverscore
from extensions.neural.moverscore import options as moverscore
from extensions.neural.sentences import options as sentences
from extensions.neural.yisi import options as yisi
from metaeval.messages import Message, message
from metrics.base import MetricInfo, OptionValue
from metrics.options import Family, clean
from metrics.plugins import Plugin

Entry = tuple[MetricInfo, str]
_REI_2020 = "Rei et al. 2020, COMET: a neural framework for MT evaluation"
_REI_2021 = "Rei et al. 2021, Are references really needed?"


def _bertscore(name: str, label: str, layers: int, shown: str, checkpoint: str) -> Entry:
    name, label = f"bertscore-{name}", f"BERTScore {label}"
    info = bertscore.bertscore_info(name, label, checkpoint, layers=layers, shown=(shown,))
    return info, bertscore.BERTSCORE.scorer


def _comet(
    checkpoint: str, label: str, reference: bool, description: Message, citation: str
) -> Entry:
    name = checkpoint.partition("/")[2].lower()
    info = checkpoints.comet_info(name, label, checkpoint, reference, description, citation)
    return info, checkpoints.COMET.scorer


def _bleurt() -> Entry:
    info = checkpoints.bleurt_info(
        *("bleurt-20", "BLEURT-20", "lucadiliello/BLEURT-20"),
        description=message(
            "known.bleurt-20",
            "Uses reference and output together; trained on ratings up to WMT19.",
        ),
        citation="Pu et al. 2021, Learning compact metrics for MT",
    )
    return info, checkpoints.BLEURT.scorer


def _xmoverscore(definition: str, label: str) -> Entry:
    given = {"checkpoint": "bert-base-multilingual-cased", "definition": definition}
    chosen = clean(xmoverscore.FAMILY, given)
    chosen["layer"] = xmoverscore.resolve_layer(chosen, layers=13)
    info = xmoverscore.make_info(f"xmoverscore-{definition}", f"XMoverScore {label}", chosen)
    return info, xmoverscore.FAMILY.scorer


def _released(family: Family, name: str, label: str, **given: OptionValue) -> Entry:
    return family.describe(name, label, clean(family, given)), family.scorer


def _metricx_24(size: str) -> list[Entry]:
    """Return one checkpoint with and without reference."""
    checkpoint = f"google/metricx-24-hybrid-{size}-v2p6"
    name, label = f"metricx-24-{size}", f"MetricX-24 {SIZES[size]}"
    return [
        _released(checkpoints.METRICX, name, label, checkpoint=checkpoint),
        _released(
            checkpoints.METRICX, f"{name}-qe", f"{label} QE", checkpoint=checkpoint, reference=False
        ),
    ]


def _metricx_23(size: str, *, qe: bool) -> Entry:
    words = ["metricx-23", *(["qe"] if qe else []), size]
    return _released(
        *(checkpoints.METRICX, "-".join(words), f"MetricX-23{' QE' if qe else ''} {SIZES[size]}"),
        checkpoint=f"google/{'-'.join(words)}-v2p0",
        release="23",
        reference=not qe,
    )


def _distilled(layers: int) -> Entry:
    """Return BLEURT-20 distilled to fewer layers."""
    info = checkpoints.bleurt_info(
        *(f"bleurt-20-d{layers}", f"BLEURT-20-D{layers}", f"lucadiliello/BLEURT-20-D{layers}"),
        description=message(
            "known.bleurt-distilled",
            "BLEURT-20 distilled to {layers} layers: faster and nearly as good.",
            layers=layers,
        ),
        citation="Pu et al. 2021, Learning compact metrics for MT",
    )
    return info, checkpoints.BLEURT.scorer


def _sentinel(side: str, short: str) -> Entry:
    """Return a sentinel, trained on direct assessments and then on MQM scores."""
    checkpoint = f"sapienzanlp/sentinel-{short}-mqm"
    name, label = f"sentinel-{short}-mqm", f"Sentinel {side}"
    return _released(checkpoints.SENTINEL, name, label, checkpoint=checkpoint, reads=side)


_SOURCE_AND_OUTPUT = message(
    "known.source-and-output", "Uses source and output together; does not use a reference."
)
_STUDY: tuple[Entry, ...] = (
    # Layers and measures recommended in Cheng et al. 2023, section 5: 8-R, 11-F1, 13-F1, 41-F1.
    _bertscore("mbert", "mBERT", 13, "8-r", "bert-base-multilingual-cased"),
    _bertscore("bart", "BART", 13, "11-f", "facebook/bart-large-mnli"),
    _bertscore("roberta", "RoBERTa", 25, "13-f", "roberta-large-mnli"),
    _bertscore("deberta", "DeBERTa", 49, "41-f", "microsoft/deberta-xlarge-mnli"),
    _comet(
        *("Unbabel/wmt20-comet-da", "COMET-20", True),
        message("known.comet-20", "Trained on direct assessments up to WMT19."),
        _REI_2020,
    ),
    _comet(
        *("Unbabel/wmt21-comet-mqm", "COMET-MQM-21", True),
        message("known.comet-mqm-21", "Trained on direct assessments, then on MQM scores."),
        _REI_2021,
    ),
    _comet(
        *("Unbabel/wmt21-comet-qe-da", "COMET-QE-DA-21", False),
        message("known.comet-qe-21", "Trained on direct assessments; does not use a reference."),
        _REI_2021,
    ),
    _comet(
        *("Unbabel/wmt22-comet-da", "COMET-22", True),
        message("known.comet-22", "Trained on direct assessments up to WMT21."),
        "Rei et al. 2022, COMET-22",
    ),
    _comet(
        *("Unbabel/wmt22-cometkiwi-da", "CometKiwi-22", False),
        _SOURCE_AND_OUTPUT,
        "Rei et al. 2022, CometKiwi",
    ),
    _comet(
        *("Unbabel/XCOMET-XL", "xCOMET-XL", True),
        message(
            "known.xcomet",
            "Uses source, output and reference together; also trained on error spans.",
        ),
        "Guerreiro et al. 2023, xCOMET",
    ),
    _bleurt(),
    _xmoverscore("release-2020", "2020"),
    _xmoverscore("head-2022", "2022"),
    _xmoverscore("paper", "as published"),
)
_MKD = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
_ZHANG_2022 = "Zhang et al. 2022, as quoted in Wu et al. 2023"
_ACROSS_LANGUAGES: dict[str, Entry] = {
    "xbertscore": (
        bertscore.xbertscore_info("xbertscore", "XBERTScore", clean(bertscore.XBERTSCORE, {})),
        bertscore.SCORER,
    ),
    "bertscore-mkd": (
        bertscore.xbertscore_info(
            "bertscore-mkd",
            "BERTScore-MKD",
            clean(bertscore.XBERTSCORE, {"checkpoint": _MKD}),
            description=message(
                "known.bertscore-mkd",
                "XBERTScore on an encoder distilled across languages. The paper does not name its "
                "encoder and layer; {checkpoint}, layer 9, is used here.",
                checkpoint=_MKD,
            ),
            citation=_ZHANG_2022,
        ),
        bertscore.SCORER,
    ),
}
_REI_2023 = "Rei et al. 2023, Scaling up CometKiwi"
SIZES = {"large": "Large", "xl": "XL", "xxl": "XXL"}
SENTINELS = (("source", "src"), ("output", "cand"), ("reference", "ref"))
_RECENT: list[Entry] = [
    *(entry for size in SIZES for entry in _metricx_24(size)),
    _comet(
        *("Unbabel/XCOMET-XXL", "xCOMET-XXL", True),
        message("known.xcomet-xxl", "Like xCOMET-XL, with three times as many weights."),
        "Guerreiro et al. 2023, xCOMET",
    ),
    _comet(
        *("Unbabel/wmt23-cometkiwi-da-xl", "CometKiwi-23 XL", False),
        _SOURCE_AND_OUTPUT,
        _REI_2023,
    ),
    _comet(
        *("Unbabel/wmt23-cometkiwi-da-xxl", "CometKiwi-23 XXL", False),
        message("known.cometkiwi-xxl", "Like CometKiwi-23 XL, with three times as many weights."),
        _REI_2023,
    ),
    _comet(
        *("Unbabel/unite-mup", "UniTE-MUP", True),
        message(
            "known.unite",
            "Scores the output with the source, with the reference and with both; the score is the "
            "mean.",
        ),
        "Wan et al. 2022, UniTE: unified translation evaluation",
    ),
    *map(_distilled, (12, 6, 3)),
    *(_sentinel(side, short) for side, short in SENTINELS),
    *(_metricx_23("xl", qe=qe) for qe in (False, True)),
]


def _of_plugin(plugin: Plugin, *infos: MetricInfo) -> dict[str, Entry]:
    return {info.name: (info, plugin.scorer) for info in infos}


KNOWN: dict[str, Entry] = {
    **{entry[0].name: entry for entry in _STUDY},
    **_ACROSS_LANGUAGES,
    **{entry[0].name: entry for entry in _RECENT},
    **_of_plugin(moverscore.PLUGIN, *moverscore.KNOWN),
    **_of_plugin(yisi.LETTERS_PLUGIN, yisi.KNOWN[0]),
    **_of_plugin(yisi.PLUGIN, *yisi.KNOWN[1:]),
    **_of_plugin(sentences.SENTSIM_PLUGIN, *sentences.KNOWN_SENTSIM),
    **_of_plugin(sentences.COSINE_PLUGIN, *sentences.KNOWN_COSINE),
}
