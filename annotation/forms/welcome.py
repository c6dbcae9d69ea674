"""Forms before an annotator's first item: background, every question optional, and the test."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.qualification.testing import Asked
from core.messages import if_missing, invalid

UNSAID = "unsaid"
# Commas as they are typed in the languages of the interface.
COMMAS = re.compile("[,，、،]")
EXPERTISE = (
    ("translator", _("Professional translator or interpreter")),
    ("student", _("Student of translation or linguistics")),
    ("researcher", _("Researcher in translation or language technology")),
    ("other", _("Other")),
    (UNSAID, _("Prefer not to say")),
)
YEARS = (
    ("0", _("None")),
    ("1-2", _("1–2 years")),
    ("3-5", _("3–5 years")),
    ("6-10", _("6–10 years")),
    ("11+", _("More than 10 years")),
    (UNSAID, _("Prefer not to say")),
)

OVERLOOKED = if_missing("background.choose-answer", "Choose one of the answers.")


class BackgroundForm(forms.Form):
    """Native languages, expertise and experience; "prefer not to say" is an answer too."""

    native_languages = forms.CharField(
        max_length=200,
        required=False,
        label=_("Your native language or languages"),
        help_text=_("Separate several languages with commas."),
    )
    native_unsaid = forms.BooleanField(required=False, label=_("Prefer not to say"))
    expertise = forms.ChoiceField(
        choices=EXPERTISE,
        error_messages=OVERLOOKED,
        label=_("What describes you best?"),
        widget=forms.RadioSelect,
    )
    experience = forms.ChoiceField(
        choices=YEARS,
        error_messages=OVERLOOKED,
        label=_("Experience with translation"),
        widget=forms.RadioSelect,
    )

    def clean(self) -> dict[str, Any]:
        """Report questions that were overlooked; an empty form does not count as a refusal."""
        data = super().clean() or self.cleaned_data
        if not data.get("native_languages") and not data.get("native_unsaid"):
            self.add_error(
                "native_languages",
                invalid(
                    "background.no-language", "Enter a language, or select “Prefer not to say”."
                ),
            )
        return data

    def answers(self) -> dict[str, Any]:
        """Return what is stored."""
        languages = COMMAS.split(self.cleaned_data["native_languages"])
        said = [] if self.cleaned_data["native_unsaid"] else languages
        return {
            "native_languages": [name.strip() for name in said if name.strip()],
            "expertise": self.cleaned_data["expertise"],
            "experience": self.cleaned_data["experience"],
        }


def initial(background: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the form shows of earlier answers."""
    if background is None:
        return {}
    languages = background.get("native_languages", [])
    return {
        **background,
        "native_languages": ", ".join(languages),
        "native_unsaid": not languages,
    }


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
                error_messages=OVERLOOKED,
            )

    def given(self) -> list[int]:
        """Return the positions of the chosen answers, in the order of the questions."""
        return [int(self.cleaned_data[each.name]) for each in self.questions]

    def asked(self) -> list[tuple[Asked, str, list[str]]]:
        """Yield each question with the chosen answer and its errors."""
        return [
            (
                each,
                str(self[each.name].value() or ""),
                [str(error) for error in self[each.name].errors],
            )
            for each in self.questions
        ]
