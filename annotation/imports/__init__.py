"""Judgments that were collected elsewhere, stored as if they had been collected here.

`drafts` says what an import consists of, `store` writes it, and each data set has one adapter
that turns its published files into drafts. `DATASETS` is the list the command offers.
"""

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.store import CampaignImport, store_campaign

# name -> (what it is, dotted path of a function folder -> list of (TestSetDraft, CampaignDraft))
DATASETS: dict[str, tuple[str, str]] = {
    "wmt17": (
        "WMT17 zh-en and de-en: outputs of all systems, published human scores",
        "annotation.imports.wmt17.read",
    ),
    "da-annotators": (
        "MLQE direct assessments en-zh and ro-en: six judgments a segment",
        "annotation.imports.da_annotators.read",
    ),
    "wmt21-ru-en": (
        "WMT21 ru-en crowd direct assessment with bad references, repeats and references",
        "annotation.imports.wmt21.read",
    ),
    "graham2015": (
        "Three direct-assessment HITs cs-en of Graham et al. 2015, rejected workers included",
        "annotation.imports.graham2015.read",
    ),
    "calibration-da": (
        "WMT22 calibration HITs en-zh and zh-en: the same documents rated by a dozen people, timed",
        "annotation.imports.calibration_da.read",
    ),
    "mqm-ted": (
        "WMT21 TED talks zh-en: error spans with category and severity on 15 systems",
        "annotation.imports.mqm_ted.read",
    ),
    "appraise-esa-en-de": (
        "Appraise log of an error span campaign WMT23 en-de with degraded documents, no texts",
        "annotation.imports.appraise_esa.read",
    ),
}

__all__ = [
    "DATASETS",
    "CampaignDraft",
    "CampaignImport",
    "ItemDraft",
    "JudgmentDraft",
    "store_campaign",
]
