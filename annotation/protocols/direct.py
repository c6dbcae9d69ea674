"""Answers that are scores alone: direct assessment of segments, of documents, side by side, and on
two scales.
"""

from django.utils.translation import gettext_lazy as _

from annotation.protocols.anchors import ADEQUACY, FLUENCY, MAIN_INFORMATION, MEANING
from annotation.protocols.asked import Scale
from annotation.protocols.base import Protocol
from annotation.protocols.grid import Layout

# Graham et al. 2013, "Continuous measurement scales in human evaluation of machine translation".
SEGMENTS = Protocol(
    name="segment-da",
    label=_("Direct assessment of segments"),
    description=_("One output at a time is rated 0–100 against the reference or the source."),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Barrault et al. 2020, "Findings of the 2020 conference on machine translation", section 3.1
# (segment ratings with document context).
DOCUMENTS = Protocol(
    name="document-da",
    label=_("Direct assessment with document context"),
    description=_("A whole document by one system scrolls; each segment is rated, then all of it."),
    layout=Layout.DOCUMENT,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Novikova et al. 2018, "RankME: reliable human ratings for natural language generation": the
# sliders' order is a relative ranking.
SIDE_BY_SIDE = Protocol(
    name="side-by-side",
    label=_("Side-by-side direct assessment"),
    description=_("Outputs of several systems for one segment are rated 0–100 next to each other."),
    layout=Layout.TOGETHER,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
# Koehn and Monz 2006, "Manual and automatic evaluation of machine translation between European
# languages", section 4.1: the five points of the Linguistic Data Consortium.
TWO_SCALES = Protocol(
    name="adequacy-fluency",
    label=_("Adequacy and fluency"),
    description=_("Each output is rated from 1 to 5 twice: for its meaning, and for its language."),
    scales=(
        Scale("adequacy", 1, 5, anchors=ADEQUACY, label=_("Adequacy")),
        Scale("fluency", 1, 5, anchors=FLUENCY, label=_("Fluency")),
    ),
)
