"""Convert names of error categories between published taxonomies and ours.

Sources: Freitag et al. 2021, table 10, as spelt in the released annotations; and the tree of
Appraise's MQM tasks. A category of theirs without one of ours keeps its own name, so that nothing
is lost; it weighs what its severity does.
"""

from django.utils.text import slugify

from annotation.protocols.published import MQM_CATEGORIES

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
