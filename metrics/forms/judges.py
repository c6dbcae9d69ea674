"""A template of judges, or another version of one."""

from django import forms
from django.core.exceptions import ValidationError

from metrics.families.judges.prompts import KINDS, LONGEST
from metrics.judges import templates
from metrics.models import JudgeTemplate

PLACEHOLDERS = (
    "Filled in: {source}, {reference}, {source_language}, {target_language} and {output}; of two "
    "outputs {a} and {b}, of all of them {outputs}."
)


class VersionForm(forms.Form):
    """The words of a version."""

    system = forms.CharField(
        required=False,
        max_length=LONGEST,
        label="Role",
        help_text="Sent first, as the system's message; may be empty.",
        widget=forms.Textarea(attrs={"rows": 4}),
        strip=False,
    )
    user = forms.CharField(
        max_length=LONGEST,
        label="Question",
        help_text=PLACEHOLDERS,
        widget=forms.Textarea(attrs={"rows": 14}),
        strip=False,
    )

    def clean(self) -> None:
        """Browsers send line ends of their own."""
        for name in ("system", "user"):
            if name in self.cleaned_data:
                self.cleaned_data[name] = self.cleaned_data[name].replace("\r\n", "\n")


class NewTemplateForm(VersionForm):
    """The first version of a template."""

    name = forms.CharField(
        max_length=40,
        label="Name",
        help_text="a–z, 0–9 and -",
        validators=JudgeTemplate._meta.get_field("name").validators,
    )
    kind = forms.ChoiceField(choices=list(KINDS.items()), label="What it asks for")
    field_order = ("name", "kind", "system", "user")

    def clean_name(self) -> str:
        """Refuse the names of other templates, and the one that means something in addresses."""
        name = str(self.cleaned_data["name"])
        if name == "add" or templates.versions_of(name):
            raise ValidationError("There is a template of this name already.")
        return name
