"""Forms of the access tab: members, personal links, access links, completion codes."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from annotation.models import AccessLink, Membership

MAX_INVITATIONS = 500
MAX_PASTED = 500_000


class ExpiryField(forms.DateField):
    """A last day; the value is the moment after which the link is dead, or None."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            label="Last day",
            help_text="Works until the end of this day (UTC). Empty: until it is revoked.",
            widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            **kwargs,
        )

    def clean(self, value: Any) -> datetime | None:
        """Return the end of the day; a day that is over is a mistake."""
        day: date | None = super().clean(value)
        if day is None:
            return None
        end = datetime.combine(day + timedelta(days=1), time(), UTC)
        if end <= timezone.now():
            raise forms.ValidationError("This day is over.")
        return end


class AccountForm(forms.Form):
    """An account by its name."""

    username = forms.CharField(max_length=150, label="User name")


class MemberForm(AccountForm):
    """An account and what it may do with the campaign."""

    role = forms.ChoiceField(choices=Membership.Role.choices)


class InviteForm(forms.Form):
    """How many personal links to make, and how long they work."""

    count = forms.IntegerField(
        min_value=1, max_value=MAX_INVITATIONS, initial=1, label="How many people"
    )
    expires_at = ExpiryField()


class AccessLinkForm(forms.Form):
    """A link for many people."""

    provider = forms.ChoiceField(choices=AccessLink.Provider.choices, label="People come from")
    quota = forms.IntegerField(
        min_value=0,
        max_value=100_000,
        initial=0,
        required=False,
        label="At most this many people",
        help_text="0: no limit.",
    )
    completion_code = forms.RegexField(
        r"^[A-Za-z0-9_-]*$",
        max_length=80,
        required=False,
        label="Completion code",
        help_text="Told to all who finish, such as the code of a Prolific study. Empty: everybody "
        "gets a code of their own.",
        error_messages={"invalid": "A code has letters, digits, - and _ only."},
    )
    expires_at = ExpiryField()

    def clean_quota(self) -> int:
        """Empty is no limit, as 0 is."""
        return self.cleaned_data["quota"] or 0


class CodesForm(forms.Form):
    """Completion codes as people handed them in."""

    codes = forms.CharField(
        max_length=MAX_PASTED,
        label="Codes",
        help_text="One a line: a code, or the person's id and a code.",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
