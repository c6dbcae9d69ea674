"""Protocols as published work describes them, the source beside each, and how long an item takes.

Scores alone (direct assessment of segments, of documents, side by side, and on two scales), a
corrected output, error spans followed by a score, and errors by category without a score.
"""

from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from annotation.protocols.base import (
    LEVELS,
    SOURCE,
    TARGET,
    Anchor,
    Category,
    Layout,
    Protocol,
    Scale,
    Severity,
    SpanScheme,
    TextField,
)
from metaeval.messages import Message, message

# The labels of Kocmi et al. 2022, "Findings of the 2022 conference on machine translation"
# (DA+SQM), and 2024 (ESA), at 0, 33, 66 and 100.
MEANING = (
    Anchor(0, _("nothing of the meaning")),
    Anchor(33, _("some of the meaning")),
    Anchor(66, _("most of the meaning")),
    Anchor(100, _("perfect")),
)
MAIN_INFORMATION = (
    Anchor(0, _("none of it")),
    Anchor(33, _("some of it")),
    Anchor(66, _("most of it")),
    Anchor(100, _("as much as fits")),
)
# The five points of Koehn and Monz 2006, section 4.1.
ADEQUACY = (
    Anchor(1, _("none of the meaning")),
    Anchor(2, _("little of the meaning")),
    Anchor(3, _("much of the meaning")),
    Anchor(4, _("most of the meaning")),
    Anchor(5, _("all of the meaning")),
)
FLUENCY = (
    Anchor(1, _("incomprehensible")),
    Anchor(2, _("not fluent")),
    Anchor(3, _("like a non-native speaker’s")),
    Anchor(4, _("good")),
    Anchor(5, _("flawless")),
)


# Graham et al. 2013, "Continuous measurement scales in human evaluation of machine translation".
SEGMENT_DA = Protocol(
    name="segment-da",
    label=_("Direct assessment of segments"),
    description=_(
        "Annotators rate one output at a time from 0 to 100 against the reference or the source."
    ),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Barrault et al. 2020, "Findings of the 2020 conference on machine translation", section 3.1
# (segment ratings with document context).
DOCUMENT_DA = Protocol(
    name="document-da",
    label=_("Direct assessment with document context"),
    description=_(
        "Annotators read a whole document by one system, rate each segment, then the document."
    ),
    layout=Layout.DOCUMENT,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Novikova et al. 2018, "RankME: reliable human ratings for natural language generation": the
# sliders' order is a relative ranking.
SIDE_BY_SIDE = Protocol(
    name="side-by-side",
    label=_("Side-by-side direct assessment"),
    description=_(
        "Annotators rate outputs of several systems for one segment side by side from 0 to 100."
    ),
    layout=Layout.TOGETHER,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Koehn and Monz 2006, "Manual and automatic evaluation of machine translation between European
# languages", section 4.1: the five points of the Linguistic Data Consortium.
TWO_SCALES = Protocol(
    name="adequacy-fluency",
    label=_("Adequacy and fluency"),
    description=_(
        "Annotators rate each output from 1 to 5 twice: for its meaning and for its language."
    ),
    scales=(
        Scale("adequacy", 1, 5, anchors=ADEQUACY, label=_("Adequacy")),
        Scale("fluency", 1, 5, anchors=FLUENCY, label=_("Fluency")),
    ),
)


# Snover et al. 2006, "A study of translation edit rate with targeted human annotation", section 4
# (HTER): the score follows from the edits.
POST_EDITING = Protocol(
    name="post-editing",
    label=_("Post-editing"),
    description=_("Annotators correct the output; the score is how much they changed (HTER)."),
    scales=(),
    text=TextField.PREFILLED,
)


# What is missing has no place in an output; a token behind it is marked where the source cannot be.
MISSING = "[missing]"
ESA_SEVERITIES = (Severity("minor", _("Minor"), 1), Severity("major", _("Major"), 5))
# Kocmi et al. 2024, "Error span annotation: a balanced approach for human evaluation of machine
# translation". An omission is marked in the source.
ESA = Protocol(
    name="esa",
    label=_("Error span annotation (ESA)"),
    description=_("Annotators mark errors as minor or major, then rate the output from 0 to 100."),
    spans=SpanScheme(severities=ESA_SEVERITIES, sides=(TARGET, SOURCE)),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# As collected by WMT 2026 (General MT); Zouhar et al. 2026, arXiv 2607.26640. Scores below 85 are
# expected to have an error.
CONTRASTIVE_ESA = Protocol(
    name="contrastive-esa",
    label=_("Contrastive error span annotation (cESA)"),
    description=_(
        "Annotators see a document by several systems in columns, mark errors, "
        "then rate each output."
    ),
    layout=Layout.GRID,
    spans=SpanScheme(severities=ESA_SEVERITIES, tokens=(MISSING,)),
    anchors=(
        Anchor(0, _("not acceptable")),
        Anchor(25, _("borderline")),
        Anchor(45, _("acceptable")),
        Anchor(65, _("good")),
        Anchor(85, _("very good")),
    ),
    errorless_from=85,
)


# Freitag et al. 2021, "Experts, errors, and context", tables 1 (severities), 10 (categories) and 4
# (weights: major 5, minor 1, minor punctuation 0.1, non-translation 25, neutral 0). The score is
# minus the sum of the weights; a source error weighs what its severity does.
def _group(key: str, label: str | Promise, *children: tuple[str, str | Promise]) -> Category:
    return Category(key, label, [Category(f"{key}/{child}", name) for child, name in children])


MQM_CATEGORIES = (
    _group(
        "accuracy",
        _("Accuracy"),
        ("addition", _("Addition")),
        ("omission", _("Omission")),
        ("mistranslation", _("Mistranslation")),
        ("untranslated", _("Untranslated text")),
    ),
    _group(
        "fluency",
        _("Fluency"),
        ("punctuation", _("Punctuation")),
        ("spelling", _("Spelling")),
        ("grammar", _("Grammar")),
        ("register", _("Register")),
        ("inconsistency", _("Inconsistency")),
        ("encoding", _("Character encoding")),
    ),
    _group(
        "terminology",
        _("Terminology"),
        ("inappropriate", _("Inappropriate for context")),
        ("inconsistent", _("Inconsistent use")),
    ),
    _group("style", _("Style"), ("awkward", _("Awkward"))),
    _group(
        "locale",
        _("Locale convention"),
        ("address", _("Address format")),
        ("currency", _("Currency format")),
        ("date", _("Date format")),
        ("name", _("Name format")),
        ("telephone", _("Telephone format")),
        ("time", _("Time format")),
    ),
    Category("other", _("Other")),
    Category("source", _("Source error")),
    Category("non-translation", _("Non-translation")),
)

MQM_SCHEME = SpanScheme(
    severities=(
        Severity("neutral", _("Neutral"), 0),
        Severity("minor", _("Minor"), 1),
        Severity("major", _("Major"), 5),
    ),
    categories=MQM_CATEGORIES,
    sides=(TARGET, SOURCE),
    weights={
        ("fluency/punctuation", "minor"): 0.1,
        **{("non-translation", severity): 25 for severity in LEVELS},
    },
)
MQM = Protocol(
    name="mqm",
    label=_("Multidimensional quality metrics (MQM)"),
    description=_(
        "Annotators mark errors with a category and a severity; the score is calculated from them."
    ),
    scales=(),
    spans=MQM_SCHEME,
)
# Song et al. 2025, "Enhancing human evaluation in machine translation with comparative judgement",
# arXiv 2502.17797: two outputs beside each other. What is missing from one of them is a token.
SIDE_BY_SIDE_MQM = Protocol(
    name="side-by-side-mqm",
    label=_("Side-by-side MQM"),
    description=_(
        "Annotators mark errors with a category in outputs of several systems side by side."
    ),
    layout=Layout.TOGETHER,
    scales=(),
    spans=replace(MQM_SCHEME, sides=(TARGET,), tokens=(MISSING,)),
)


@dataclass(frozen=True)
class Pace:
    """Seconds per item: from `low` to `high`, which are equal if one number is known."""

    low: float
    high: float
    source: Message


DA_PACE = Pace(
    19,
    29,
    message(
        "pace.da",
        "means of WMT21 ru–en (crowd, 159 tasks) and WMT22 zh–en (11 annotators, up to 300 s)",
    ),
)
PACES: dict[str, Pace] = {
    "segment-da": DA_PACE,
    "document-da": DA_PACE,
    "esa": Pace(48, 65, message("pace.esa", "WMT23 en–de, two rounds (Kocmi et al. 2024)")),
    "contrastive-esa": Pace(
        54,
        78,
        message(
            "pace.contrastive-esa",
            "en–ja with three systems and with one system on a screen (arXiv 2607.26640)",
        ),
    ),
}


# Convert names of error categories between published taxonomies and ours. Sources: Freitag et al.
# 2021, table 10, as spelt in the released annotations; and the tree of Appraise's MQM tasks. A
# category of theirs without one of ours keeps its own name, so that nothing is lost; it weighs what
# its severity does.

OURS = {
    "accuracy/untranslated text": "accuracy/untranslated",
    "accuracy/source language fragment": "accuracy/untranslated",
    "fluency/character encoding": "fluency/encoding",
    "terminology/inappropriate for context": "terminology/inappropriate",
    "terminology/inconsistent use of terminology": "terminology/inconsistent",
    "terminology/inconsistent use": "terminology/inconsistent",
    "terminology/wrong term": "terminology/inappropriate",
    "linguistic conventions/grammar": "fluency/grammar",
    "linguistic conventions/punctuation": "fluency/punctuation",
    "linguistic conventions/spelling": "fluency/spelling",
    "linguistic conventions/character encoding": "fluency/encoding",
    "style/awkward style": "style/awkward",
    "style/language register": "fluency/register",
    "locale convention/address format": "locale/address",
    "locale convention/currency format": "locale/currency",
    "locale convention/date format": "locale/date",
    "locale convention/name format": "locale/name",
    "locale convention/telephone format": "locale/telephone",
    "locale convention/time format": "locale/time",
    "source error": "source",
    "non-translation!": "non-translation",
}


def our_category(name: str) -> str:
    """Return our key of a category written `Accuracy/Omission`.

    >>> our_category("Terminology/Inappropriate for context"), our_category("Accuracy/Omission")
    ('terminology/inappropriate', 'accuracy/omission')
    >>> our_category("Design and markup/Layout")
    'design-and-markup/layout'
    """
    known = OURS.get(name.strip().lower())
    return known or "/".join(slugify(part) for part in name.split("/") if slugify(part))


def their_category(key: str) -> str:
    """Return the label path of one of our categories: `Accuracy/Omission`.

    >>> their_category("terminology/inappropriate")
    'Terminology/Inappropriate for context'
    """
    for group in MQM_CATEGORIES:
        for category in group.children or [group]:
            if category.key == key:
                return f"{group.label}/{category.label}" if group.children else str(group.label)
    return key
