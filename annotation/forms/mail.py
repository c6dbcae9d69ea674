"""E-mail addresses of annotators as people paste them, and what a letter to them is to say."""

import re
from collections.abc import Collection
from typing import Any
from uuid import uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from annotation.models import Annotator, Letter

# `A3, name@example.org`, also with a tab, a semicolon or a blank between them.
PARTS = re.compile(r"[\s,;]+")
# `Name <name@example.org>`, as address books have it.
BOOK = re.compile(r"^[^<>]*<([^<>]+)>$")


def read_lines(text: str, *, labels: Collection[str]) -> list[tuple[str, str]]:
    """Return (label, address) of each line; a label may stand alone, and so may an address.

    Raises ValidationError that names every line with a mistake; an address may stand there once.
    """
    found: list[tuple[str, str]] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_read(line.strip(), labels, {address for _, address in found if address}))
        except ValidationError as error:
            problem = error.messages[0]
            problems.append(f"Line {number}: {problem}")
    if problems:
        raise ValidationError(problems)
    return found


def _read(line: str, labels: Collection[str], seen: Collection[str]) -> tuple[str, str]:
    label, _, rest = line.partition(next(iter(PARTS.findall(line)), " "))
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
        raise ValidationError(f"“{line[:80]}” is no e-mail address.") from None
    if address.lower() in {each.lower() for each in seen}:
        raise ValidationError(f"{address} stands in a line above, and two people need two.")
    return label, address


class AddressesForm(forms.Form):
    """The addresses of a campaign's annotators, a line each; who stands in no line keeps theirs.

    After a check `chosen` holds the annotators whose address changes, with the new one.
    """

    addresses = forms.CharField(
        required=False,
        max_length=500_000,
        label="Addresses",
        help_text="One a line: an annotator and an address, such as “A1 name@example.org”. An "
        "address alone goes to the next annotator who has none; an annotator alone loses theirs.",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )

    def __init__(self, data: Any, people: Collection[Annotator]) -> None:
        lines = (f"{each.label} {each.user.email}".strip() for each in people if each.user)
        super().__init__(data, initial={"addresses": "\n".join(lines)}, label_suffix="")
        self.people = {person.label: person for person in people}
        self.chosen: dict[Annotator, str] = {}

    def clean_addresses(self) -> str:
        """Find out whose each address is."""
        text: str = self.cleaned_data["addresses"]
        lines = read_lines(text, labels=self.people)
        named = {label: address for label, address in lines if label}
        after = {
            label: named.get(label, person.user.email if person.user else "")
            for label, person in self.people.items()
        }
        free = iter([label for label in after if not after[label] and label not in named])
        for _, address in (line for line in lines if not line[0]):
            label = next(free, None)
            if label is None:
                raise ValidationError(f"There is no annotator without an address for {address}.")
            after[label] = address
        self._keep(after)
        return text

    def _keep(self, after: dict[str, str]) -> None:
        for label, address in after.items():
            person = self.people[label]
            before = person.user.email if person.user else ""
            if address == before:
                continue
            if person.user is None or person.user.has_usable_password():
                raise ValidationError(f"{label} has an account, and its address is changed there.")
            self.chosen[person] = address


class LetterForm(forms.Form):
    """Whom to write to, and what."""

    sheet = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    people = forms.ModelMultipleChoiceField(
        Annotator.objects.none(), error_messages={"required": "Choose at least one person."}
    )
    subject = forms.CharField(max_length=200, label="Subject")
    text = forms.CharField(
        max_length=5_000,
        label="Text",
        help_text="The link comes where {link} stands.",
        widget=forms.Textarea(attrs={"rows": 9}),
    )

    def clean_subject(self) -> str:
        """One line."""
        return " ".join(str(self.cleaned_data["subject"]).split())

    def clean_text(self) -> str:
        """A letter without the link is of no use."""
        text: str = self.cleaned_data["text"]
        if Letter.LINK not in text:
            raise ValidationError("The text lacks {link}, where the link is to stand.")
        return text.replace("\r\n", "\n")
