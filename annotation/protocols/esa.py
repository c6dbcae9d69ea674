"""Error span annotation: minor and major error spans, then a score from 0 to 100.

Source: Kocmi et al. 2024, "Error span annotation: a balanced approach for human evaluation of
machine translation". An omission is marked in the source.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.protocols.anchors import MAIN_INFORMATION, MEANING
from annotation.protocols.base import SOURCE, TARGET, Protocol, Severity, SpanScheme

PROTOCOL = Protocol(
    name="esa",
    label=_("Error span annotation (ESA)"),
    description=_("Errors are marked as minor or major, then the output is rated 0–100."),
    question=gettext_noop(
        "How well does the black text keep the meaning and read, given the errors you marked?"
    ),
    length_question=gettext_noop(
        "The black text should have {percent} of the full length. How well does it keep the main "
        "information and read, given the errors you marked?"
    ),
    spans=SpanScheme(
        severities=(Severity("minor", _("Minor"), 1), Severity("major", _("Major"), 5)),
        sides=(TARGET, SOURCE),
    ),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
