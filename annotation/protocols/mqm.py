"""Multidimensional quality metrics: spans with a category and a severity, and no score by hand.

The score is minus the sum of the weights. Source: Freitag et al. 2021, "Experts, errors, and
context", tables 1 (severities), 10 (categories) and 4 (weights: major 5, minor 1, minor
punctuation 0.1, non-translation 25, neutral 0); a source error weighs what its severity does.
"""

from dataclasses import replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.protocols.base import (
    LEVELS,
    SOURCE,
    TARGET,
    Category,
    Protocol,
    Severity,
    SpanScheme,
)
from annotation.protocols.grid import Layout
from annotation.protocols.marked import MISSING


def _group(key: str, label: str | Promise, *children: tuple[str, str | Promise]) -> Category:
    return Category(key, label, [Category(f"{key}/{child}", name) for child, name in children])


CATEGORIES = (
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

SCHEME = SpanScheme(
    severities=(
        Severity("neutral", _("Neutral"), 0),
        Severity("minor", _("Minor"), 1),
        Severity("major", _("Major"), 5),
    ),
    categories=CATEGORIES,
    sides=(TARGET, SOURCE),
    weights={
        ("fluency/punctuation", "minor"): 0.1,
        **{("non-translation", severity): 25 for severity in LEVELS},
    },
)
ONE = Protocol(
    name="mqm",
    label=_("Multidimensional quality metrics (MQM)"),
    description=_("Errors are marked with category and severity; the score follows from them."),
    scales=(),
    spans=SCHEME,
)
# Song et al. 2025, "Enhancing human evaluation in machine translation with comparative judgement",
# arXiv 2502.17797: two outputs beside each other. What is missing from one of them is a token.
SIDE_BY_SIDE = Protocol(
    name="side-by-side-mqm",
    label=_("Side-by-side MQM"),
    description=_("Errors are marked by category in outputs of several systems beside each other."),
    layout=Layout.TOGETHER,
    scales=(),
    spans=replace(SCHEME, sides=(TARGET,), tokens=(MISSING,)),
)
