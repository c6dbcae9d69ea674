"""Post-editing: the output is corrected, and the score follows from the edits.

Source: Snover et al. 2006, "A study of translation edit rate with targeted human annotation",
section 4 (HTER).
"""

from django.utils.translation import gettext_lazy as _

from annotation.protocols.asked import TextField
from annotation.protocols.base import Protocol

POST_EDITING = Protocol(
    name="post-editing",
    label=_("Post-editing"),
    description=_("The output is corrected; the score follows from how much was changed (HTER)."),
    scales=(),
    text=TextField.PREFILLED,
)
