"""Show a reason to trust numbers less as a mark of a few words."""

from django import template

from dashboards.documents.reasons import Reason
from metaeval.messages import Message, message, plural

register = template.Library()
MARKS = {
    "no_times": message("mark.no-times", "no times known"),
    "few_times": message("mark.few-times", "few times known"),
    "controls_failed": message("mark.controls-failed", "control items failed"),
    "controls_none": message("mark.controls-none", "no control items"),
    "controls_few": message("mark.controls-few", "few control items"),
    "agreement_none": message("mark.agreement-none", "no agreement"),
    "agreement_unknown": message("mark.agreement-unknown", "agreement unknown"),
    "simulated": message("mark.simulated", "simulated annotators"),
    "one_annotator": message("mark.one-annotator", "one annotator"),
    "judgments_missing": message("mark.judgments-missing", "judgments not published"),
    "intervals_hold_chance": message("mark.intervals", "intervals include chance"),
}


@register.filter
def brief(reason: Reason) -> Message:
    """Return a reason as its mark."""
    n, total = reason.text.count, reason.text.parameters.get("total", 0)
    match reason.code:
        case "impossible_speed":
            return message(
                "mark.impossible-speed",
                "{n} of {total} annotators too fast to have read",
                n=n,
                total=total,
            )
        case "excluded":
            return message("mark.excluded", "{n} of {total} annotators excluded", n=n, total=total)
        case "sparse":
            return message(
                "mark.sparse", "{n} of {total} segments compare systems", n=n, total=total
            )
        case "few_systems":
            return plural("mark.few-systems", "{n} system", "{n} systems", n=n)
        case "few_segments":
            return plural("mark.few-segments", "{n} segment", "{n} segments", n=n)
        case "few_documents":
            return plural("mark.few-documents", "{n} document", "{n} documents", n=n)
    return MARKS[reason.code]
