"""Forms of accounts: who is invited, and what an account may do."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.access import ADMIN, ANNOTATOR, CAMPAIGN_ADMIN, RESEARCHER

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
