"""Side-by-side direct assessment: outputs of two or more systems for one segment, with a slider
each; the sliders' order is a relative ranking.

Source: Novikova et al. 2018, "RankME: reliable human ratings for natural language generation".
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.protocols.anchors import MAIN_INFORMATION, MEANING
from annotation.protocols.base import Layout, Protocol

PROTOCOL = Protocol(
    name="side-by-side",
    label=_("Side-by-side direct assessment"),
    description=_("Outputs of several systems for one segment are rated 0–100 next to each other."),
    question=gettext_noop("How accurately does each text express the meaning of the gray text?"),
    length_question=gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in the "
        "gray text?"
    ),
    layout=Layout.TOGETHER,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
