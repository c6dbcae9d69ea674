"""The form of a campaign's rule for personal data."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import DataRule

LABELS: dict[str, Any] = {
    "addresses_days": _("Days until e-mail addresses are deleted"),
    "platform_ids_days": _("Days until platform ids are deleted"),
    "backgrounds_days": _("Days until background answers are deleted"),
}


class DataRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """What happens when a person is erased, and how long data is kept."""

    class Meta:
        model = DataRule
        fields = ("erasure", *LABELS)
        labels = LABELS | {"erasure": _("Judgments of an annotator whom a site admin erases")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in LABELS:
            field: Any = self.fields[name]
            field.help_text = _("After the campaign is closed. Leave blank to keep them.")
