"""BERTScore across languages, and sentBLEU, for :mod:`metrics.registry`: baselines of
metrics that judge against the source.

Checkpoints are the hub's names of models that the papers used, or the closest public ones.
"""

from metrics.base import MetricInfo
from metrics.families.lexical import options as lexical
from metrics.families.xbertscore import options as xbertscore
from metrics.options import clean

_MKD = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
_ZHANG_2022 = "Zhang et al. 2022, as quoted in Wu et al. 2023"


METRICS: dict[str, tuple[MetricInfo, str]] = {
    "sentbleu-wmt": (
        lexical.FAMILY.describe("sentbleu-wmt", "sentBLEU (WMT)", clean(lexical.FAMILY, {})),
        lexical.FAMILY.scorer,
    ),
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
}
