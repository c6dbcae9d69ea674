"""The form for a campaign's instructions and consent in one language."""

from django import forms
from django.conf import settings

from annotation.judging.instructions import OWN
from annotation.models import Campaign, Instructions

MAX_TEXT = 50_000
NEEDS_OWN = (
    "Write the campaign's own consent first: it decides whether annotators are asked, and is "
    "what they read where a language is missing."
)


def language_name(code: str) -> str:
    """Return a language as the page calls it."""
    return dict(settings.LANGUAGES).get(code, code) or "The campaign's own text"


class InstructionsForm(forms.Form):
    """Both texts as Markdown."""

    instructions = forms.CharField(
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Shown above the texts to be rated. Markdown: headings, lists, emphasis, "
        "links, tables, code.",
    )
    consent = forms.CharField(
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What annotators agree to before their first item. Markdown.",
    )

    def clean(self) -> dict[str, str]:
        """Refuse a form without any text."""
        given = super().clean() or {}
        is_empty = not any(text.strip() for text in given.values())
        if is_empty and not self.errors and self.initial.get("language") != OWN:
            raise forms.ValidationError("Both texts are empty. Write one, or delete the language.")
        if given.get("consent", "").strip() and self.initial.get("needs_own_consent"):
            self.add_error("consent", NEEDS_OWN)
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
