"""Instructions and consent of a campaign, in the reader's language if they are translated.

The campaign has both in its own, undeclared language; `Instructions` rows have translations into
languages of the interface.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotation.models import AuditEntry, Campaign, Instructions
from core.languages import direction
from core.markdown import to_html

# The texts of the campaign itself, beside the codes of languages.
OWN = ""


@dataclass(frozen=True)
class Prose:
    """A rendered text with its language and direction.

    The campaign's own text is in an undeclared language: `lang` is empty, which HTML reads as
    unknown, and `dir` follows from the first letter.
    """

    html: SafeString
    language: str
    direction: str

    def __str__(self) -> str:
        return self.html

    def __bool__(self) -> bool:
        return bool(self.html)


def prose(own: str, translated: str | None, language: str) -> Prose:
    """Render the translation if there is one, and the campaign's own text otherwise."""
    if translated and translated.strip():
        return Prose(to_html(translated), language, direction(language))
    return Prose(to_html(own), OWN, "auto")


def active() -> str:
    """Return the code of the active language."""
    return get_language() or "en"


def translation_of(campaign: str, field: str) -> Subquery:
    """Return a subquery of the text in the active language, or None.

    `campaign` is the path to the campaign's key in the query around it.
    """
    rows = Instructions.objects.filter(campaign=OuterRef(campaign), language=active())
    return Subquery(rows.values(field)[:1])


def read(campaign: Campaign, field: str) -> Prose:
    """Return `instructions` or `consent` as the reader should see it (one query)."""
    rows = Instructions.objects.filter(campaign=campaign, language=active())
    translated = rows.values_list(field, flat=True).first()
    return prose(getattr(campaign, field), translated, active())


@transaction.atomic
def save(
    *, campaign: Campaign, actor: User, language: str, instructions: str, consent: str
) -> None:
    """Store the texts in one language, or the campaign's own."""
    texts = {"instructions": instructions, "consent": consent}
    if language == OWN:
        Campaign.objects.filter(pk=campaign.pk).update(**texts)
    else:
        Instructions.objects.update_or_create(campaign=campaign, language=language, defaults=texts)
    _audit(campaign, actor, "texts saved", language)


@transaction.atomic
def delete(*, campaign: Campaign, actor: User, language: str) -> bool:
    """Remove the texts in one language, so that the campaign's own are shown instead."""
    deleted, _ = Instructions.objects.filter(campaign=campaign, language=language).delete()
    if deleted:
        _audit(campaign, actor, "texts deleted", language)
    return bool(deleted)


def _audit(campaign: Campaign, actor: User, action: str, language: str) -> None:
    AuditEntry.objects.create(
        campaign=campaign, actor=actor, action=action, details={"language": language}
    )
