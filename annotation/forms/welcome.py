"""The form about an annotator's background. Every question may be left unanswered, knowingly."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

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

OVERLOOKED = {"required": _("Choose one of the answers.")}


class BackgroundForm(forms.Form):
    """Native languages, expertise and experience; "prefer not to say" is an answer too."""

    native_languages = forms.CharField(
        max_length=200,
        required=False,
        label=_("Your native language or languages"),
        help_text=_("Separate several by commas."),
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
        """Nothing sent at all is a question overlooked, not one refused."""
        data = super().clean() or self.cleaned_data
        if not data.get("native_languages") and not data.get("native_unsaid"):
            self.add_error("native_languages", _("Name a language, or tick “Prefer not to say”."))
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


def in_words(background: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the answers as (question, answer) for those who may read them."""
    if not background:
        return []
    unsaid = str(_("Prefer not to say"))
    languages = ", ".join(background.get("native_languages", [])) or unsaid
    expertise = dict(EXPERTISE).get(background.get("expertise", UNSAID), unsaid)
    experience = dict(YEARS).get(background.get("experience", UNSAID), unsaid)
    return [
        ("native languages", languages),
        ("expertise", str(expertise)),
        ("experience", str(experience)),
    ]
