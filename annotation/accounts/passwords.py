"""Passwords that somebody would guess who knows the site."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User

from core.messages import invalid

# Names of this program and of what people do with it.
WORDS = ("touchstone", "translation", "annotator", "annotation", "researcher", "campaign")
LONGEST_REST = 6
SHORTEST_WORD = 4


class SiteWordsValidator:
    """Refuse passwords that are little more than names of the program, the site and its work."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise ValidationError unless enough is left without those words."""
        host = urlsplit(settings.SITE_URL).hostname or ""
        parts = {each for each in re.split(r"[.-]", host) if len(each) >= SHORTEST_WORD}
        rest = password.casefold()
        for word in sorted({host, *parts, *WORDS} - {""}, key=len, reverse=True):
            rest = rest.replace(word, "")
        if rest != password.casefold() and len(rest) <= LONGEST_REST:
            raise invalid(
                "password.site-words",
                "This password is made of words that belong to this site. Use other words.",
            )

    def get_help_text(self) -> str:
        """Return nothing: the form says what passwords are like."""
        return ""
