"""Templates by name and version: those of the code, and those that were written here."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from core.text import whole
from extensions.judges.prompts import BUILT_IN, KINDS, Template, unknown
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.models import JudgeTemplate
from metrics.options import OptionError


def all_templates() -> dict[str, Template]:
    """Return every version of every template by its key, newest versions first."""
    rows = map(_of_row, JudgeTemplate.objects.all())
    found = [*BUILT_IN.values(), *rows]
    order = {name: at for at, name in enumerate(dict.fromkeys(each.name for each in found))}
    found.sort(key=lambda each: (order[each.name], -each.version))
    return {template.key: template for template in found}


def get(key: str) -> Template:
    """Return a template by its key (`error-spans@1`); raise OptionError where there is none."""
    if key in BUILT_IN:
        return BUILT_IN[key]
    name, _, version = key.partition("@")
    row = JudgeTemplate.objects.filter(name=name, version=whole(version) or 0).first()
    if row is None:
        raise unknown(key)
    return _of_row(row)


def _of_row(row: JudgeTemplate) -> Template:
    return Template(row.name, row.version, row.kind, row.system, row.user)


def of_judge(info: MetricInfo | None) -> Template | None:
    """Return the template of a judge; None for other metrics, and if it no longer exists."""
    key = dict(info.options).get("template", "") if info else ""
    return all_templates().get(str(key)) if key else None


def versions_of(name: str) -> list[Template]:
    """Return the versions of a template, the newest first."""
    return [each for each in all_templates().values() if each.name == name]


def add(*, name: str, kind: str, system: str, user: str, by: Any = None) -> Template:
    """Store a new version of a template; a new name begins with version 1.

    Raises ValidationError for wrong placeholders, for another kind than that of older versions, for
    the text of the newest version, and if another user stored this version first.
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
        problem = message(
            "judge.version-taken",
            "Another user has just saved a version. Review that version first.",
        )
        raise ValidationError([problem]) from None
    return _of_row(row)


def _check(older: list[Template], kind: str, system: str, user: str) -> None:
    if not older:
        return
    if older[0].kind != kind:
        problem = message(
            "judge.other-kind",
            "All versions of this template ask for {kind}. Choose another name.",
            kind=KINDS[older[0].kind],
        )
        raise ValidationError([problem])
    if (older[0].system, older[0].user) == (system, user):
        problem = message(
            "judge.same-text", "This is the text of the newest version. Change it first."
        )
        raise ValidationError([problem])


def _check_words(template: Template) -> None:
    try:
        template.check()
    except OptionError as error:
        raise ValidationError([error.problem]) from error
