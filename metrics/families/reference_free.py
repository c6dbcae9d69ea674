"""The metrics of :mod:`metrics.registry` that judge against the source, and their baselines.

Checkpoints are the hub's names of models that the papers used, or the closest public ones.
"""

from metrics.base import MetricInfo
from metrics.families.cosine import options as cosine
from metrics.families.lexical import options as lexical
from metrics.families.sentsim import options as sentsim
from metrics.families.xbertscore import options as xbertscore
from metrics.families.yisi import options as yisi
from metrics.options import Family, clean

_MKD = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
_ZHANG_2022 = "Zhang et al. 2022, as quoted in Wu et al. 2023"


def _yisi(name: str, label: str, compare: str) -> tuple[MetricInfo, str]:
    chosen = clean(yisi.FAMILY, {"compare": compare})
    return yisi.make_contextual(name, label, chosen), yisi.CONTEXTUAL


def _defaults(family: Family, name: str, label: str, **given: str) -> tuple[MetricInfo, str]:
    return family.describe(name, label, clean(family, given)), family.scorer


METRICS: dict[str, tuple[MetricInfo, str]] = {
    "sentbleu-wmt": _defaults(lexical.FAMILY, "sentbleu-wmt", "sentBLEU (WMT)"),
    "yisi-0": _defaults(yisi.LETTERS_FAMILY, "yisi-0", "YiSi-0"),
    "yisi-1": _yisi("yisi-1", "YiSi-1", "reference"),
    "yisi-2": _yisi("yisi-2", "YiSi-2", "source"),
    "xbertscore": (
        xbertscore.make_info("xbertscore", "XBERTScore", clean(xbertscore.FAMILY, {})),
        xbertscore.SCORER,
    ),
    "bertscore-mkd": (
        xbertscore.make_info(
            "bertscore-mkd",
            "BERTScore-MKD",
            clean(xbertscore.FAMILY, {"checkpoint": _MKD}),
            description="XBERTScore on an encoder distilled across languages. Which encoder and "
            f"layer the paper used is not known: here {_MKD}, layer 9.",
            citation=_ZHANG_2022,
        ),
        xbertscore.SCORER,
    ),
    "sentsim": (
        sentsim.make_info("sentsim", "SentSim", clean(sentsim.FAMILY, {})),
        sentsim.SCORER,
    ),
    "cosine-labse": _defaults(
        cosine.FAMILY, "cosine-labse", "Cosine LaBSE", checkpoint="sentence-transformers/LaBSE"
    ),
}
