"""Direct assessment with document context: every segment in its document, then the document.

Source: Barrault et al. 2020, "Findings of the 2020 conference on machine translation", section
3.1 (segment ratings with document context).
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.protocols.anchors import MAIN_INFORMATION, MEANING
from annotation.protocols.base import Layout, Protocol

PROTOCOL = Protocol(
    name="document-da",
    label=_("Direct assessment with document context"),
    description=_("A whole document by one system scrolls; each segment is rated, then all of it."),
    question=gettext_noop(
        "How accurately does the black text express the meaning of the gray text?"
    ),
    length_question=gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the gray text?"
    ),
    layout=Layout.DOCUMENT,
    anchors=MEANING,
    length_anchors=MAIN_INFORMATION,
)
