"""Direct assessment of single segments, as in the study of length-controlled translation.

Source: Graham et al. 2013, "Continuous measurement scales in human evaluation of machine
translation"; the question about length-controlled output is that of Cheng et al. 2023, section 4.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.protocols.anchors import MAIN_INFORMATION, MEANING
from annotation.protocols.base import Protocol

PROTOCOL = Protocol(
    name="segment-da",
    label=_("Direct assessment of segments"),
    description=_("One output at a time is rated 0–100 against the reference or the source."),
    question=gettext_noop(
        "How accurately does the black text express the meaning of the gray text?"
    ),
    length_question=gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the gray text?"
    ),
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
