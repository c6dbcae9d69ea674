"""Contrastive error span annotation: a document by several systems in columns, error spans and a
score from 0 to 100 for each output.

As collected by WMT 2026 (General MT); Zouhar et al. 2026, arXiv 2607.26640. What is missing has no
place in an output, so a token behind it is marked. Scores below 85 are expected to have an error.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.protocols.base import Anchor, Layout, Protocol, Severity, SpanScheme

MISSING = "[missing]"
SCHEME = SpanScheme(
    severities=(Severity("minor", _("Minor"), 1), Severity("major", _("Major"), 5)),
    tokens=(MISSING,),
)
PROTOCOL = Protocol(
    name="contrastive-esa",
    label=_("Contrastive error span annotation (cESA)"),
    description=_(
        "A document by several systems in columns: errors are marked, then each output is rated."
    ),
    question=gettext_noop(
        "Mark the errors in every text, then rate how well it keeps the meaning and reads."
    ),
    length_question=gettext_noop(
        "Every text should have {percent} of the full length. Mark its errors, then rate how well "
        "it keeps the main information and reads."
    ),
    layout=Layout.GRID,
    spans=SCHEME,
    anchors=(
        Anchor(0, _("not acceptable")),
        Anchor(25, _("borderline")),
        Anchor(45, _("acceptable")),
        Anchor(65, _("good")),
        Anchor(85, _("very good")),
    ),
    errorless_from=85,
)
