"""Templates by name and version: those of the code, and those that people wrote here."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from core.text import whole
from extensions.judges.prompts import BUILT_IN, KINDS, Template
from metrics.base import MetricInfo
from metrics.models import JudgeTemplate


def all_templates() -> dict[str, Template]:
    """Return every version of every template by its key, newest versions first."""
    rows = map(_of_row, JudgeTemplate.objects.all())
    found = [*BUILT_IN.values(), *rows]
    order = {name: at for at, name in enumerate(dict.fromkeys(each.name for each in found))}
    found.sort(key=lambda each: (order[each.name], -each.version))
    return {template.key: template for template in found}


def get(key: str) -> Template:
    """Return a template by its key (`error-spans@1`); ValueError where there is none."""
    if key in BUILT_IN:
        return BUILT_IN[key]
    name, _, version = key.partition("@")
    row = JudgeTemplate.objects.filter(name=name, version=whole(version) or 0).first()
    if row is None:
        raise ValueError(f"Template: there is no template {key!r}.")
    return _of_row(row)


def _of_row(row: JudgeTemplate) -> Template:
    return Template(row.name, row.version, row.kind, row.system, row.user)


def of_judge(info: MetricInfo | None) -> Template | None:
    """Return the template of a judge; None for other metrics, and where the template is gone."""
    key = dict(info.options).get("template", "") if info else ""
    return all_templates().get(str(key)) if key else None


def versions_of(name: str) -> list[Template]:
    """Return the versions of a template, the newest first."""
    return [each for each in all_templates().values() if each.name == name]


def add(*, name: str, kind: str, system: str, user: str, by: Any = None) -> Template:
    """Keep a new version of a template; a name that is new begins with version 1.

    Raises ValidationError with a sentence: for placeholders, another kind than that of the older
    versions, words that are those of the newest version, or one who was faster.
    """
    older = versions_of(name)
    _check(older, kind, system, user)
    version = older[0].version + 1 if older else 1
    row = JudgeTemplate(
        name=name, version=version, kind=kind, system=system, user=user, created_by=by
    )
    _check_words(_of_row(row))
    row.full_clean(validate_constraints=False)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ValidationError("Somebody else has just saved a version: look at it first.") from None
    return _of_row(row)


def _check(older: list[Template], kind: str, system: str, user: str) -> None:
    if not older:
        return
    if older[0].kind != kind:
        raise ValidationError(f"All versions ask for {KINDS[older[0].kind]}: take another name.")
    if (older[0].system, older[0].user) == (system, user):
        raise ValidationError("These are the words of the newest version.")


def _check_words(template: Template) -> None:
    try:
        template.check()
    except ValueError as error:
        raise ValidationError(str(error)) from error
