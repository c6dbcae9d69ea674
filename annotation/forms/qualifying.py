"""Forms of qualification: the comprehension test as its annotator fills it in."""

from collections.abc import Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.qualification.testing import Asked


class TestForm(forms.Form):
    """A field for each question, and the `number` of the attempt."""

    __test__ = False  # no test case of pytest

    number = forms.IntegerField(min_value=1, max_value=30_000, widget=forms.HiddenInput)

    def __init__(self, *args: object, questions: Sequence[Asked], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.questions = questions
        for each in questions:
            self.fields[each.name] = forms.ChoiceField(
                choices=each.choices,
                error_messages={"required": _("Choose one of the answers.")},
            )

    def given(self) -> list[int]:
        """The places of the chosen answers in the order of the questions."""
        return [int(self.cleaned_data[each.name]) for each in self.questions]

    def asked(self) -> list[tuple[Asked, str, list[str]]]:
        """Each question with what was chosen and what is wrong with that."""
        return [
            (
                each,
                str(self[each.name].value() or ""),
                [str(error) for error in self[each.name].errors],
            )
            for each in self.questions
        ]
