"""What the scores of the common scales mean, in a few words each.

Meaning: the labels of Kocmi et al. 2022, "Findings of the 2022 conference on machine translation"
(DA+SQM), and 2024 (ESA), at 0, 33, 66 and 100.
"""

from django.utils.translation import gettext_lazy as _

from annotation.protocols.base import Anchor

MEANING = (
    Anchor(0, _("nothing of the meaning")),
    Anchor(33, _("some of the meaning")),
    Anchor(66, _("most of the meaning")),
    Anchor(100, _("perfect")),
)
MAIN_INFORMATION = (
    Anchor(0, _("none of it")),
    Anchor(33, _("some of it")),
    Anchor(66, _("most of it")),
    Anchor(100, _("all that fits")),
)
