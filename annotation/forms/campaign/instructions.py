"""The forms for instructions and consent in one language, and for a comprehension test."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.judging.instructions import OWN
from annotation.models import Campaign, Instructions
from annotation.qualification.comprehension import QuestionError, faults, in_lines, read_lines
from core.messages import invalid
from metaeval.messages import message

MAX_TEXT = 50_000
NEEDS_OWN = message(
    "instructions.needs-own",
    "Write the campaign’s main consent text first. It decides whether annotators are asked, and "
    "annotators whose language is missing read it.",
)


def language_name(code: str) -> str:
    """Return the name of a language on the page."""
    return dict(settings.LANGUAGES).get(code, code) or str(_("Main text of the campaign"))


class InstructionsForm(forms.Form):
    """Both texts as Markdown."""

    instructions = forms.CharField(
        label=_("Instructions"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_(
            "Shown above the texts to be rated. Markdown: headings, lists, emphasis, links, "
            "tables, code."
        ),
    )
    consent = forms.CharField(
        label=_("Consent"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("What annotators agree to before their first item. Markdown."),
    )

    def clean(self) -> dict[str, str]:
        """Refuse a form without any text."""
        given = super().clean() or {}
        is_empty = not any(text.strip() for text in given.values())
        if is_empty and not self.errors and self.initial.get("language") != OWN:
            raise invalid(
                "instructions.empty", "Both texts are empty. Write one, or delete the language."
            )
        if given.get("consent", "").strip() and self.initial.get("needs_own_consent"):
            self.add_error("consent", ValidationError([NEEDS_OWN]))
        return given


def stored_texts(campaign: Campaign, language: str) -> dict[str, str]:
    """Return the texts in one language, empty where there are none yet."""
    row: Campaign | Instructions | None = campaign
    if language != OWN:
        row = campaign.translations.filter(language=language).first()
    return {
        "language": language,
        "instructions": row.instructions if row else "",
        "consent": row.consent if row else "",
    }


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
