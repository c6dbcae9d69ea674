"""The answer form of an item page."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError

from annotation.judgments import read_start
from annotation.models.judgment import MAX_SCORE

SCORE_MISSING = f"No score is chosen yet. Choose one from 0 to {MAX_SCORE}; 0 counts too."
SCORE_WRONG = f"The score must be a whole number from 0 to {MAX_SCORE}."
FORM_DAMAGED = "A part of this form was missing or damaged. Submit again to save the score."

# ASCII only: int() would take digits of any script, blanks and underscores.
_DIGITS = re.compile(r"[0-9]{1,3}")


def parse_score(raw: str) -> int:
    """Read a score from 0 to 100; raises ValidationError with a sentence for anything else."""
    text = raw.strip()
    if not text:
        raise ValidationError(SCORE_MISSING)
    if not _DIGITS.fullmatch(text) or int(text) > MAX_SCORE:
        raise ValidationError(SCORE_WRONG)
    return int(text)


class JudgmentForm(forms.Form):
    """`score`; `submit_key`, new with each page; the `revision` seen; the signed `started`."""

    score = forms.Field(required=False)
    submit_key = forms.UUIDField(error_messages={"required": FORM_DAMAGED, "invalid": FORM_DAMAGED})
    revision = forms.RegexField(
        r"^[0-9]{1,9}\Z", error_messages={"required": FORM_DAMAGED, "invalid": FORM_DAMAGED}
    )
    started = forms.Field(required=False)

    def __init__(self, data: Any, *, user_id: int, public_id: UUID) -> None:
        super().__init__(data)
        self.user_id, self.public_id = user_id, public_id

    def clean_score(self) -> int:
        return parse_score(self.cleaned_data["score"] or "")

    def clean_revision(self) -> int:
        return int(self.cleaned_data["revision"])

    def clean_started(self) -> datetime:
        stamp = self.cleaned_data["started"] or ""
        return read_start(stamp, user_id=self.user_id, public_id=self.public_id)

    @property
    def problem(self) -> str:
        """The first sentence to tell, in the order of the fields."""
        return str(next(iter(self.errors.values()))[0])

    def valid(self, name: str) -> str | None:
        """What was sent in a field, if it may be sent again."""
        return None if name in self.errors else self.data.get(name)
