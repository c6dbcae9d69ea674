"""Error spans, then a score from 0 to 100: error span annotation of one output, and of several."""

from django.utils.translation import gettext_lazy as _

from annotation.protocols.anchors import MAIN_INFORMATION, MEANING
from annotation.protocols.asked import Anchor
from annotation.protocols.base import SOURCE, TARGET, Protocol, Severity, SpanScheme
from annotation.protocols.grid import Layout

# What is missing has no place in an output; a token behind it is marked where the source cannot be.
MISSING = "[missing]"
SEVERITIES = (Severity("minor", _("Minor"), 1), Severity("major", _("Major"), 5))
# Kocmi et al. 2024, "Error span annotation: a balanced approach for human evaluation of machine
# translation". An omission is marked in the source.
ONE = Protocol(
    name="esa",
    label=_("Error span annotation (ESA)"),
    description=_("Errors are marked as minor or major, then the output is rated 0–100."),
    spans=SpanScheme(severities=SEVERITIES, sides=(TARGET, SOURCE)),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# As collected by WMT 2026 (General MT); Zouhar et al. 2026, arXiv 2607.26640. Scores below 85 are
# expected to have an error.
CONTRASTIVE = Protocol(
    name="contrastive-esa",
    label=_("Contrastive error span annotation (cESA)"),
    description=_(
        "A document by several systems in columns: errors are marked, then each output is rated."
    ),
    layout=Layout.GRID,
    spans=SpanScheme(severities=SEVERITIES, tokens=(MISSING,)),
    anchors=(
        Anchor(0, _("not acceptable")),
        Anchor(25, _("borderline")),
        Anchor(45, _("acceptable")),
        Anchor(65, _("good")),
        Anchor(85, _("very good")),
    ),
    errorless_from=85,
)
