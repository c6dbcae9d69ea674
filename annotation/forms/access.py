"""Forms of accounts and of the access tab: roles, members, links, completion codes."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.access import ADMIN, ANNOTATOR, CAMPAIGN_ADMIN, RESEARCHER
from annotation.forms.mail import read_lines
from annotation.models import AccessLink, Campaign, Membership

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


class RenewForm(forms.Form):
    """How long a personal link works."""

    expires_at = ExpiryField()


class PeopleForm(forms.Form):
    """Who rates: new people who get a personal link, and accounts with the annotator role.

    Addresses name the first of the new people, and as many people as they are at least.
    """

    count = forms.IntegerField(
        min_value=0,
        max_value=MAX_INVITATIONS,
        required=False,
        label="New people, with a personal link each",
    )
    expires_at = ExpiryField()
    addresses = forms.CharField(
        required=False,
        max_length=MAX_PASTED,
        label="Their e-mail addresses, one a line (optional)",
        help_text="Then their links can be mailed from here.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    users = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        label="Accounts",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any = None, *, campaign: Campaign) -> None:
        missing = campaign.annotators_per_item - campaign.annotators.count()
        super().__init__(data, initial={"count": max(0, missing)})
        accounts = User.objects.filter(groups__name=ANNOTATOR, is_active=True)
        # Accounts made for a personal link belong to one campaign and cannot sign in.
        self.fields["users"].queryset = (  # type: ignore[attr-defined]
            accounts.exclude(annotators__campaign=campaign)
            .exclude(annotators__token_hash__isnull=False)
            .order_by("username")
        )

    def clean_addresses(self) -> list[str]:
        """One address a line, each once."""
        text = self.cleaned_data["addresses"]
        return [each for _, each in read_lines(text, labels=()) if each]

    def clean(self) -> dict[str, Any]:
        """Ask for at least one person."""
        data = super().clean() or self.cleaned_data
        if addresses := data.get("addresses"):
            data["count"] = max(data.get("count") or 0, len(addresses))
            if data["count"] > MAX_INVITATIONS:
                self.add_error("addresses", f"At most {MAX_INVITATIONS} people at once.")
        if not self.errors and not data.get("users") and not data.get("count"):
            raise forms.ValidationError("Say how many personal links to make, or choose accounts.")
        return data


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


ROLES = (
    (ANNOTATOR, "Annotator: rates the items given to them"),
    (RESEARCHER, "Researcher: reads campaigns and results, starts metrics and trainings"),
    (CAMPAIGN_ADMIN, "Campaign admin: also uploads test sets and runs campaigns of their own"),
    (ADMIN, "Site admin: everything, accounts included"),
)


class RolesForm(forms.Form):
    """What an account may do."""

    roles = forms.MultipleChoiceField(
        label="Roles", choices=ROLES, required=False, widget=forms.CheckboxSelectMultiple
    )


class AccountMailForm(forms.Form):
    """The address to which the link of an account goes."""

    sheet = forms.UUIDField(widget=forms.HiddenInput)
    address = forms.EmailField(label="E-mail")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)


class InviteForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new account; its password is set by whoever opens the link."""

    roles = forms.MultipleChoiceField(
        label="Roles",
        choices=ROLES,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role."},
    )

    class Meta:
        model = User
        fields = ("username", "email")
        labels = {"username": "User name", "email": "E-mail (optional)"}
        help_texts = {"username": "Letters, digits and @ . + - _", "email": ""}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)
        self.fields["username"].widget.attrs.update(autocapitalize="none", autocomplete="off")

    def clean(self) -> dict[str, Any]:
        """A link can be mailed where there is an address."""
        data = super().clean() or self.cleaned_data
        if "mail" in self.data and not data.get("email") and "email" not in self.errors:
            self.add_error("email", "The link is to be mailed, and here is no address.")
        return data
