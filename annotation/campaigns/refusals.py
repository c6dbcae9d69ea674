"""Answers and people that a campaign does not take, with the sentence that says why."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign

NOT_YET_OPEN = _("This campaign is not open yet.")
CLOSED = _("This campaign is closed and takes no more ratings. What you rated before is saved.")


class RefusedError(Exception):
    """An answer that was not stored, with the sentence that says why."""

    def __init__(self, sentence: str | Promise) -> None:
        super().__init__(sentence)
        self.sentence = str(sentence)


class NotOpenError(RefusedError):
    """The campaign takes no answers; sending again does not help."""


def refuse_unless_open(status: str) -> None:
    """Raise NotOpenError unless a campaign with this status takes answers."""
    if status != Campaign.Status.OPEN:
        raise NotOpenError(NOT_YET_OPEN if status == Campaign.Status.DRAFT else CLOSED)
