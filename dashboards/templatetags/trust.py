"""The marks of trust: a reason in three words, with its number where it begins with one."""

import re

from django import template

from dashboards.trust.reasons import Reason

register = template.Library()

# By code: what the mark says; {n} is the number that the reason begins with, as in `3 of 201`.
BRIEFS = {
    "impossible_speed": "{n} annotators too fast to have read",
    "no_times": "no times known",
    "few_times": "few times known",
    "controls_failed": "control items failed",
    "controls_none": "no control items",
    "controls_few": "few control items",
    "agreement_none": "no agreement",
    "agreement_unknown": "agreement unknown",
    "simulated": "simulated annotators",
    "one_annotator": "one annotator",
    "excluded": "{n} annotators excluded",
    "judgments_missing": "judgments not published",
    "few_systems": "{n} systems",
    "few_segments": "{n} segments",
    "sparse": "{n} segments compare systems",
    "intervals_hold_chance": "intervals hold chance",
}
NUMBER = re.compile(r"[\d,]+(?: of [\d,]+)?")


@register.filter
def brief(reason: Reason) -> str:
    """A reason as its mark."""
    found = NUMBER.match(reason.text)
    said = BRIEFS[reason.code].format(n=found.group() if found else "").strip()
    return re.sub(r"^1 (\w+)s\b", r"1 \1", said)
