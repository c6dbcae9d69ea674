"""The field for a comprehension test: lines of text, or questions from a campaign file."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.qualification.comprehension import QuestionError, faults, in_lines, read_lines


class QuestionsField(forms.Field):
    """Cleans to a list of questions; None without any."""

    widget = forms.Textarea(attrs={"rows": 8, "dir": "auto"})

    def prepare_value(self, value: Any) -> Any:
        """Show stored questions as lines."""
        return in_lines(value) if isinstance(value, list) and not any(faults(value)) else value

    def clean(self, value: Any) -> list[dict[str, Any]] | None:
        """Raise ValidationError with the line or the question."""
        try:
            questions = read_lines(value) if isinstance(value, str) else value
        except QuestionError as error:
            raise ValidationError([error.message]) from None
        if not questions:
            return None
        if found := list(faults(questions)):
            raise ValidationError(found)
        return list(questions)
