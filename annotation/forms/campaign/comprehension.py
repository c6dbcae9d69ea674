"""The field for a comprehension test: written in lines, or given whole by a campaign file."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.qualification.comprehension import faults, in_lines, read_lines


class QuestionsField(forms.Field):
    """Cleans to a list of questions, or None where there is none."""

    widget = forms.Textarea(attrs={"rows": 8, "dir": "auto"})

    def prepare_value(self, value: Any) -> Any:
        """Show stored questions as lines."""
        return in_lines(value) if isinstance(value, list) and not any(faults(value)) else value

    def clean(self, value: Any) -> list[dict[str, Any]] | None:
        """Raise ValidationError naming the line or the question."""
        try:
            questions = read_lines(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ValidationError(f"{str(error).capitalize()}.") from None
        if not questions:
            return None
        if found := list(faults(questions)):
            raise ValidationError([f"{fault[0].upper()}{fault[1:]}." for fault in found])
        return list(questions)
