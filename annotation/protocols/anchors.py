"""What the scores of the common scales mean, in a few words each.

Meaning: the labels of Kocmi et al. 2022, "Findings of the 2022 conference on machine translation"
(DA+SQM), and 2024 (ESA), at 0, 33, 66 and 100. Adequacy and fluency: the
five points of Koehn and Monz 2006, section 4.1.
"""

from django.utils.translation import gettext_lazy as _

from annotation.protocols.asked import Anchor

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
ADEQUACY = (
    Anchor(1, _("none of the meaning")),
    Anchor(2, _("little of the meaning")),
    Anchor(3, _("much of the meaning")),
    Anchor(4, _("most of the meaning")),
    Anchor(5, _("all of the meaning")),
)
FLUENCY = (
    Anchor(1, _("incomprehensible")),
    Anchor(2, _("not fluent")),
    Anchor(3, _("as by a non-native speaker")),
    Anchor(4, _("good")),
    Anchor(5, _("flawless")),
)
