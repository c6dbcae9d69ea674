"""The marks of trust: a reason in three words, with its numbers where it begins with them."""

import re

from django import template

from dashboards.documents.reasons import Reason

register = template.Library()

# By code: what the mark says; {n} and {total} are what the reason begins with, as in `3 of 201`.
BRIEFS = {
    "impossible_speed": "{n} of {total} annotators too fast to have read",
    "no_times": "no times known",
    "few_times": "few times known",
    "controls_failed": "control items failed",
    "controls_none": "no control items",
    "controls_few": "few control items",
    "agreement_none": "no agreement",
    "agreement_unknown": "agreement unknown",
    "simulated": "simulated annotators",
    "one_annotator": "one annotator",
    "excluded": "{n} of {total} annotators excluded",
    "judgments_missing": "judgments not published",
    "few_systems": "{n} systems",
    "few_segments": "{n} segments",
    "few_documents": "{n} documents",
    "sparse": "{n} of {total} segments compare systems",
    "intervals_hold_chance": "intervals hold chance",
}
NUMBERS = re.compile(r"(?P<n>[\d,]+)(?: of (?P<total>[\d,]+))?")


@register.filter
def brief(reason: Reason) -> str:
    """A reason as its mark."""
    found = NUMBERS.match(reason.text)
    said = BRIEFS[reason.code].format_map(found.groupdict() if found else {})
    return re.sub(r"^1 (\w+)s\b", r"1 \1", said)
