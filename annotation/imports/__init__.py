"""Import judgments that were collected elsewhere, stored as if they had been collected here.

`drafts` says what an import consists of, `store` writes it, and each data set has a reader that
turns its published files into drafts. `DATASETS` are those without scores of
metrics; `metrics.datasets` adds the others and is what the command offers.
"""

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import DataSet, Pair
from annotation.imports.store import CampaignImport, store_campaign
from metaeval.messages import message

# Readers take a `Pair` and return a (TestSetDraft, CampaignDraft).
DATASETS: dict[str, DataSet] = {
    "wmt17": DataSet(
        message(
            "dataset.wmt17",
            "WMT17: outputs of all systems, published human scores of outputs and systems",
        ),
        "annotation.imports.published.human.wmt17",
        "wmt17/*",
    ),
    "da-annotators": DataSet(
        message(
            "dataset.da-annotators",
            "MLQE direct assessments: six judgments per segment",
        ),
        "annotation.imports.published.human.da_annotators",
        "da-annotators/*",
    ),
    "wmt21": DataSet(
        message(
            "dataset.wmt21",
            "WMT21 crowd direct assessment with bad references, repeats and references",
        ),
        "annotation.imports.published.human.wmt21",
        "raw-crowd-da/wmt21-*",
    ),
    "graham2015": DataSet(
        message(
            "dataset.graham2015",
            "Direct-assessment HITs of Graham et al. 2015, including rejected workers",
        ),
        "annotation.imports.published.human.graham2015",
        "raw-crowd-da/graham2015*",
        unnamed="cs-en",
    ),
    "graham2015-scores": DataSet(
        message(
            "dataset.graham2015-scores",
            "Scores of segments by Graham et al. 2015: means of 15 or more judgments",
        ),
        "annotation.imports.published.human.graham2015_scores",
        "raw-crowd-da/graham2015",
        index=("segment-scores.tsv", "lp"),
    ),
    "calibration-da": DataSet(
        message(
            "dataset.calibration-da",
            "WMT22 calibration HITs: the same documents judged by a dozen annotators, with times",
        ),
        "annotation.imports.published.human.calibration_da",
        "calibration-da/*",
    ),
    "mqm-ted": DataSet(
        message(
            "dataset.mqm-ted",
            "WMT21 TED talks: error spans with category and severity",
        ),
        "annotation.imports.published.human.mqm_ted",
        "mqm-ted/*",
    ),
    "appraise-esa": DataSet(
        message(
            "dataset.appraise-esa",
            "Appraise log of an error span campaign with degraded documents, without texts",
        ),
        "annotation.imports.published.human.appraise_esa",
        "raw-crowd-da/appraise-esa-*",
    ),
}

__all__ = [
    "DATASETS",
    "CampaignDraft",
    "CampaignImport",
    "DataSet",
    "ItemDraft",
    "JudgmentDraft",
    "Pair",
    "store_campaign",
]
