"""Forms for annotators' e-mail addresses and for letters to them."""

import re
from collections.abc import Collection
from typing import Any
from uuid import uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Letter
from core.messages import if_missing, invalid
from metaeval.messages import Message, MessageError, message

# `A3, name@example.org`, separated by a comma, a tab, a semicolon or a blank.
PARTS = re.compile(r"[\s,;]+")
# `Name <name@example.org>`, as copied from address books.
BOOK = re.compile(r"^[^<>]*<([^<>]+)>$")


def read_lines(text: str, *, labels: Collection[str]) -> list[tuple[str, str]]:
    """Return (label, address) of each line; each of them can be missing.

    Raises ValidationError with every line that has an error; addresses must be unique.
    """
    found: list[tuple[str, str]] = []
    problems: list[Message] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_read(line.strip(), labels, {address for _, address in found if address}))
        except MessageError as error:
            problems.append(
                message("mail.line", "Line {n}: {problem}", n=number, problem=error.message)
            )
    if problems:
        raise ValidationError(problems)
    return found


def _read(line: str, labels: Collection[str], seen: Collection[str]) -> tuple[str, str]:
    label, _between, rest = line.partition(next(iter(PARTS.findall(line)), " "))
    if label in labels:
        line = rest.strip(" \t,;")
    else:
        label = ""
    book = BOOK.match(line)
    address = book[1].strip() if book else line
    if not address and label:
        return label, ""
    try:
        validate_email(address)
    except ValidationError:
        raise MessageError(
            message("mail.no-address", "“{text}” is not an e-mail address.", text=line[:80])
        ) from None
    if address.lower() in {each.lower() for each in seen}:
        raise MessageError(
            message(
                "mail.repeated",
                "{address} is also in an earlier line. Every annotator needs a different address.",
                address=address,
            )
        )
    return label, address


class AddressesForm(forms.Form):
    """The addresses of a campaign's annotators, one per line; others keep their addresses.

    After validation, `chosen` has the annotators whose address changes, with the new address.
    """

    addresses = forms.CharField(
        required=False,
        max_length=500_000,
        label=_("Addresses"),
        help_text=_(
            "One per line: an annotator and an address, such as “A1 name@example.org”. An "
            "address without an annotator is given to the next annotator who has none. An "
            "annotator without an address loses theirs."
        ),
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )

    def __init__(self, data: Any, people: Collection[Annotator]) -> None:
        lines = (f"{each.label} {each.user.email}".strip() for each in people if each.user)
        super().__init__(data, initial={"addresses": "\n".join(lines)}, label_suffix="")
        self.people = {person.label: person for person in people}
        self.chosen: dict[Annotator, str] = {}

    def clean_addresses(self) -> str:
        """Match addresses with annotators."""
        text: str = self.cleaned_data["addresses"]
        lines = read_lines(text, labels=self.people)
        named = {label: address for label, address in lines if label}
        after = {
            label: named.get(label, person.user.email if person.user else "")
            for label, person in self.people.items()
        }
        free = iter([label for label in after if not after[label] and label not in named])
        for address in (address for label, address in lines if not label):
            label = next(free, None)
            if label is None:
                raise ValidationError(
                    [
                        message(
                            "mail.nobody-left",
                            "All annotators already have an address, so nobody can get {address}.",
                            address=address,
                        )
                    ]
                )
            after[label] = address
        self._choose(after)
        return text

    def _choose(self, after: dict[str, str]) -> None:
        for label, address in after.items():
            person = self.people[label]
            before = person.user.email if person.user else ""
            if address == before:
                continue
            if person.user is None or person.user.has_usable_password():
                raise ValidationError(
                    [
                        message(
                            "mail.own-account",
                            "{annotator} has an account. Change the address on the account’s page.",
                            annotator=label,
                        )
                    ]
                )
            self.chosen[person] = address


class LetterForm(forms.Form):
    """The annotators to write to, and the letter."""

    sheet = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    people = forms.ModelMultipleChoiceField(
        Annotator.objects.none(),
        error_messages=if_missing("mail.choose-annotator", "Choose at least one annotator."),
    )
    subject = forms.CharField(max_length=200, label=_("Subject"))
    text = forms.CharField(
        max_length=5_000,
        label=_("Text"),
        help_text=_("{link} is replaced by the annotator’s link."),
        widget=forms.Textarea(attrs={"rows": 9}),
    )

    def clean_subject(self) -> str:
        """Return the subject as one line."""
        return " ".join(str(self.cleaned_data["subject"]).split())

    def clean_text(self) -> str:
        """Require the placeholder of the link."""
        text: str = self.cleaned_data["text"]
        if Letter.LINK not in text:
            raise invalid(
                "mail.no-link",
                "The text must contain {link}, which is replaced by the annotator’s link.",
                link=Letter.LINK,
            )
        return text.replace("\r\n", "\n")
