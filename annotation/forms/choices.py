"""Choices on the preview of an import: nothing is stored that was not shown with them."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

CHANGED = (
    "Nothing was stored, because you changed a choice. This is what the files hold with it: check "
    "it, then store it."
)


def is_changed(form: forms.BaseForm) -> bool:
    """Return True if a bound form states other values than it was shown with.

    Values are compared as the fields read them. Fields that were not sent state nothing; what
    cannot be read counts as a change.
    """
    if not form.is_valid():
        return True
    return any(
        form.cleaned_data[name] != _shown(field, form.get_initial_for_field(field, name))
        for name, field in form.fields.items()
        if not field.widget.value_omitted_from_data(form.data, form.files, form.add_prefix(name))
    )


def _shown(field: forms.Field, initial: Any) -> Any:
    try:
        return field.clean(initial)
    except ValidationError:
        return None
