"""Forms of accounts and of the people page: roles, members, links, completion codes."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.access import ADMIN, ANNOTATOR, CAMPAIGN_ADMIN, RESEARCHER, is_site_admin
from annotation.forms.mail import read_lines
from annotation.forms.welcome import EXPERTISE, UNSAID, YEARS
from annotation.models import AccessLink, ApiToken, Campaign, DataRule, Membership
from core.messages import if_missing, invalid
from metaeval.messages import message

CODE_WRONG: Any = message(
    "access.completion-code", "A code can contain only letters, digits, - and _."
)
MAX_INVITATIONS = 500
MAX_PASTED = 500_000
TOO_MANY = message(
    "people.too-many", "At most {n} annotators can be added at once.", n=MAX_INVITATIONS
)


class ExpiryField(forms.DateField):
    """A last day; the value is the moment when the link expires, or None."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            label=_("Last day"),
            help_text=_(
                "The link works until the end of this day (UTC). Leave blank for a link that "
                "works until it is revoked."
            ),
            widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            **kwargs,
        )

    def clean(self, value: Any) -> datetime | None:
        """Return the end of the day. Raises ValidationError for a day in the past."""
        day: date | None = super().clean(value)
        if day is None:
            return None
        end = datetime.combine(day + timedelta(days=1), time(), UTC)
        if end <= timezone.now():
            raise invalid("access.past-day", "This day is in the past.")
        return end


class AccountForm(forms.Form):
    """An account by its user name."""

    username = forms.CharField(max_length=150, label=_("User name"))


class MemberForm(AccountForm):
    """An account and its role in the campaign."""

    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices)


class RenewForm(forms.Form):
    """The expiry of a personal link."""

    expires_at = ExpiryField()


class PeopleForm(forms.Form):
    """Annotators to add: new ones with personal links, and accounts with the annotator role.

    Addresses belong to the first new annotators; there are at least as many as addresses.
    """

    count = forms.IntegerField(
        min_value=0,
        max_value=MAX_INVITATIONS,
        required=False,
        label=_("New annotators with personal links"),
    )
    expires_at = ExpiryField()
    addresses = forms.CharField(
        required=False,
        max_length=MAX_PASTED,
        label=_("Their e-mail addresses, one per line (optional)"),
        help_text=_("With addresses, their links can be mailed from this page."),
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    users = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        label=_("Accounts"),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any = None, *, campaign: Campaign) -> None:
        missing = campaign.annotators_per_item - campaign.annotators.count()
        super().__init__(data, initial={"count": max(0, missing)})
        accounts = User.objects.filter(groups__name=ANNOTATOR, is_active=True)
        # Accounts made for personal links belong to one campaign and cannot sign in.
        self.fields["users"].queryset = (  # type: ignore[attr-defined]
            accounts.exclude(annotators__campaign=campaign)
            .exclude(annotators__token_hash__isnull=False)
            .order_by("username")
        )

    def clean_addresses(self) -> list[str]:
        """Return the addresses, one per line, without duplicates."""
        text = self.cleaned_data["addresses"]
        return [each for _label, each in read_lines(text, labels=()) if each]

    def clean(self) -> dict[str, Any]:
        """Require at least one annotator."""
        data = super().clean() or self.cleaned_data
        if addresses := data.get("addresses"):
            data["count"] = max(data.get("count") or 0, len(addresses))
            if data["count"] > MAX_INVITATIONS:
                self.add_error("addresses", forms.ValidationError([TOO_MANY]))
        if not self.errors and not data.get("users") and not data.get("count"):
            raise invalid(
                "access.nobody", "Enter the number of personal links, or choose accounts."
            )
        return data


class AccessLinkForm(forms.Form):
    """A link for many annotators."""

    provider = forms.ChoiceField(
        choices=AccessLink.Provider.choices, label=_("Annotators come from")
    )
    quota = forms.IntegerField(
        min_value=0,
        max_value=100_000,
        initial=0,
        required=False,
        label=_("Maximum number of annotators"),
        help_text=_("0: no limit."),
    )
    completion_code = forms.RegexField(
        r"^[A-Za-z0-9_-]*$",
        max_length=80,
        required=False,
        label=_("Completion code"),
        help_text=_(
            "Shown to all annotators who finish, such as the code of a Prolific study. Leave "
            "blank to give every annotator an individual code."
        ),
        error_messages={"invalid": CODE_WRONG},
    )
    expires_at = ExpiryField()

    def clean_quota(self) -> int:
        """Return 0, no limit, for a blank field."""
        return self.cleaned_data["quota"] or 0


class CodesForm(forms.Form):
    """Completion codes that annotators submitted elsewhere."""

    codes = forms.CharField(
        max_length=MAX_PASTED,
        label=_("Codes"),
        help_text=_("One per line: a code, or an annotator’s id and a code."),
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )


ROLES = (
    (ANNOTATOR, _("Annotator: rates assigned items")),
    (RESEARCHER, _("Researcher: reads campaigns and results, starts metrics and trainings")),
    (CAMPAIGN_ADMIN, _("Campaign admin: also uploads test sets and runs their own campaigns")),
    (ADMIN, _("Site admin: can do everything, including accounts")),
)


class RolesForm(forms.Form):
    """The roles of an account."""

    roles = forms.MultipleChoiceField(
        label=_("Roles"), choices=ROLES, required=False, widget=forms.CheckboxSelectMultiple
    )


class AccountMailForm(forms.Form):
    """The address to which an account's link is mailed."""

    sheet = forms.UUIDField(widget=forms.HiddenInput)
    address = forms.EmailField(label=_("E-mail"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)


class InviteForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new account; the person who opens its link sets the password."""

    roles = forms.MultipleChoiceField(
        label=_("Roles"),
        choices=ROLES,
        widget=forms.CheckboxSelectMultiple,
        error_messages=if_missing("account.choose-role", "Choose at least one role."),
    )

    class Meta:
        model = User
        fields = ("username", "email")
        labels = {"username": _("User name"), "email": _("E-mail (optional)")}
        help_texts = {"username": _("Letters, digits and @ . + - _"), "email": ""}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)
        self.fields["username"].widget.attrs.update(autocapitalize="none", autocomplete="off")

    def clean(self) -> dict[str, Any]:
        """Require an address if the link should be mailed."""
        data = super().clean() or self.cleaned_data
        if "mail" in self.data and not data.get("email") and "email" not in self.errors:
            self.add_error(
                "email",
                invalid(
                    "account.needs-address", "Enter the address to which the link should be mailed."
                ),
            )
        return data


class TokenForm(forms.Form):
    """A token for programs: its name, scopes and duration."""

    name = forms.CharField(
        max_length=80, label=_("Name"), help_text=_("Such as the program that uses the token.")
    )
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label=_("Scopes"),
        initial=[ApiToken.Scope.READ],
        error_messages=if_missing("token.choose-scope", "Choose at least one scope."),
    )
    days = forms.TypedChoiceField(
        coerce=int,
        label=_("Valid for"),
        choices=[
            (7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("one year")),
        ],
        initial=90,
    )  # fmt: skip

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data, label_suffix="", auto_id="token_%s")
        self.fields["scopes"].choices = [  # type: ignore[attr-defined]
            choice
            for choice in ApiToken.Scope.choices
            if choice[0] != ApiToken.Scope.SITE or is_site_admin(user)
        ]


def in_words(background: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return an annotator's background as (question, answer)."""
    if not background:
        return []
    unsaid = str(_("Prefer not to say"))
    languages = ", ".join(background.get("native_languages", [])) or unsaid
    expertise = dict(EXPERTISE).get(background.get("expertise", UNSAID), unsaid)
    experience = dict(YEARS).get(background.get("experience", UNSAID), unsaid)
    return [
        (str(_("native languages")), languages),
        (str(_("expertise")), str(expertise)),
        (str(_("experience")), str(experience)),
    ]


DAYS: dict[str, Any] = {
    "addresses_days": _("Days until e-mail addresses are deleted"),
    "platform_ids_days": _("Days until platform ids are deleted"),
    "backgrounds_days": _("Days until background answers are deleted"),
}


class DataRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """What happens when a person is erased, and how long data is kept."""

    class Meta:
        model = DataRule
        fields = ("erasure", *DAYS)
        labels = DAYS | {"erasure": _("Judgments of an annotator whom a site admin erases")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in DAYS:
            field: Any = self.fields[name]
            field.help_text = _("After the campaign is closed. Leave blank to keep them.")
