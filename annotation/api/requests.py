"""Describe the requests of programs by the forms of pages, which read both."""

import json
from typing import Any

from django import forms
from rest_framework import fields, serializers

from annotation.forms.uploads import FilesField
from annotation.uploads.tables.skipping import KINDS
from metaeval.messages import message

Field = serializers.Field[Any, Any, Any, Any]


class TextsField(serializers.CharField):
    """JSON of an object of texts, such as columns with their fields; `by_file`, one for each."""

    def __init__(self, *, by_file: bool = False, **options: Any) -> None:
        super().__init__(**{"required": False, "default": dict, "allow_blank": True, **options})
        self.by_file = by_file

    def run_validation(self, data: Any = fields.empty) -> Any:
        """Read a blank text as an empty object."""
        return {} if data == "" else super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        """Require such an object."""
        try:
            value = json.loads(str(data))
        except (ValueError, RecursionError):
            value = None
        inner = value.values() if self.by_file and isinstance(value, dict) else [value]
        is_fit = isinstance(value, dict) and all(isinstance(each, dict) for each in inner)
        if not is_fit or not all(isinstance(text, str) for each in inner for text in each.values()):
            example = '{"": {"seg_id": "segment"}}' if self.by_file else '{"seg_id": "segment"}'
            refused = message(
                "api.columns", "Send a JSON object such as {example}.", example=example
            )
            raise serializers.ValidationError(refused.text, refused.code)
        return value


def request_of(form: type[forms.Form], name: str, **also: Field) -> type[Any]:
    """Return the description of what a form takes; `also` are other fields, and replace its own.

    Imports take `skip`, `columns` and `dry_run` besides.
    """
    own = {key: _field(field) for key, field in form.base_fields.items()}
    common: dict[str, Field] = {
        "columns": serializers.CharField(required=False, help_text='{"seg_id": "segment"}'),
        "skip": serializers.ListField(
            child=serializers.ChoiceField(choices=list(KINDS)),
            required=False,
            help_text="kinds of problems whose rows are skipped and counted",
        ),
        "dry_run": serializers.BooleanField(default=False),
    }
    members = {"__doc__": form.__doc__, **own, **common, **also}
    return type(name, (serializers.Serializer,), members)


def _field(field: forms.Field) -> Field:
    options: dict[str, Any] = {"required": field.required, "help_text": field.help_text or None}
    if isinstance(field, FilesField):
        options |= {"min_length": 1} if field.required else {}
        return serializers.ListField(child=serializers.FileField(), **options)
    if isinstance(field, forms.FileField):
        return serializers.FileField(**options)
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(**options)
    if isinstance(field, forms.FloatField):
        options |= {"min_value": field.min_value, "max_value": field.max_value}
        return serializers.FloatField(**options)
    if isinstance(field, forms.ModelChoiceField | forms.SlugField):
        return serializers.SlugField(max_length=getattr(field, "max_length", None), **options)
    choices: Any = getattr(field, "choices", ())
    if listed := [choice for choice, _ in choices if choice]:
        return serializers.ChoiceField(choices=listed, **options)
    return serializers.CharField(max_length=getattr(field, "max_length", None), **options)
