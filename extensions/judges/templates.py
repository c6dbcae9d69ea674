"""Templates by name and version: those of the code, and those written here or read from files."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from core.text import whole
from extensions.judges.prompts import BUILT_IN, KINDS, Template, unknown
from metaeval.messages import DataError, Message, message
from metrics.base import MetricInfo
from metrics.models import JudgeTemplate
from metrics.models.judges import validate_template_name
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
    examples = tuple((user, assistant) for user, assistant in row.examples)
    return Template(
        row.name,
        row.version,
        row.kind,
        row.system,
        row.user,
        tuple(row.classes),
        examples,
        row.second,
    )


def of_judge(info: MetricInfo | None) -> Template | None:
    """Return the template of a judge; None for other metrics, and if it no longer exists."""
    key = dict(info.options).get("template", "") if info else ""
    return all_templates().get(str(key)) if key else None


def versions_of(name: str) -> list[Template]:
    """Return the versions of a template, the newest first."""
    return [each for each in all_templates().values() if each.name == name]


def add(
    *,
    name: str,
    kind: str,
    system: str,
    user: str,
    classes: Sequence[str] = (),
    examples: Sequence[tuple[str, str]] = (),
    second: str = "",
    by: Any = None,
) -> Template:
    """Store a new version of a template; a new name begins with version 1.

    Raises ValidationError for wrong placeholders, for another kind than that of older versions, for
    the text of the newest version, and if another user stored this version first.
    """
    older = versions_of(name)
    row = JudgeTemplate(
        name=name,
        version=older[0].version + 1 if older else 1,
        kind=kind,
        system=system,
        user=user,
        classes=list(classes),
        examples=[list(example) for example in examples],
        second=second,
        created_by=by,
    )
    _check(older, _of_row(row))
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


def _check(older: list[Template], new: Template) -> None:
    if not older:
        return
    if older[0].kind != new.kind:
        problem = message(
            "judge.other-kind",
            "All versions of this template ask for {kind}. Choose another name.",
            kind=KINDS[older[0].kind],
        )
        raise ValidationError([problem])
    if replace(older[0], version=new.version) == new:
        problem = message(
            "judge.same-text", "This is the text of the newest version. Change it first."
        )
        raise ValidationError([problem])


def _check_words(template: Template) -> None:
    try:
        template.check()
    except OptionError as error:
        raise ValidationError([error.problem]) from error


# Templates in JSON files, such as GEMBA's wording, which is not shipped:
#
#     {"name": "stars", "kind": "stars", "user": "… {source_seg} … {target_seg} …"}
#
# `kind` declares the format of replies. `classes` are listed from the worst, which counts 0;
# `examples` are objects with `user` and `assistant`; `second` is the second question. GEMBA's names
# of placeholders become ours.
GEMBA = {
    "source_lang": "source_language",
    "target_lang": "target_language",
    "source_seg": "source",
    "target_seg": "output",
    "reference_seg": "reference",
    "error_spans": "errors",
}
_GEMBA = re.compile(rf"\{{({'|'.join(GEMBA)})\}}")
TEXTS, LISTS = ("name", "kind", "user", "system", "second"), ("classes", "examples")
NEEDED = ("name", "kind", "user")
LONGEST_NAME = 40


def read(file: str, content: bytes) -> dict[str, Any]:
    """Return what :func:`add` takes; DataError names the file and the field."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    return given(document, file)


def given(document: Any, file: str) -> dict[str, Any]:
    """Return the same of what a file contains."""
    if not isinstance(document, dict):
        problem = message("judge.file-not-json", "{file} is not a JSON object.", file=file)
        raise DataError(problem)
    for field in document:
        if field not in (*TEXTS, *LISTS):
            raise _wrong(file, field, message("judge.field-unknown", "there is no such field."))
    for field in NEEDED:
        if field not in document:
            raise _wrong(file, field, message("judge.field-missing", "it is missing."))
    found = {field: _text(file, field, document.get(field, "")) for field in TEXTS}
    if len(found["name"]) > LONGEST_NAME or not is_name(found["name"]):
        problem = message("judge.field-name", "use at most 40 of a–z, 0–9 and -, but not “add”.")
        raise _wrong(file, "name", problem)
    for field in ("user", "system", "second"):
        found[field] = _GEMBA.sub(lambda match: f"{{{GEMBA[match[1]]}}}", found[field])
    lists = {field: _list(file, field, document.get(field, [])) for field in LISTS}
    classes = [_text(file, "classes", each) for each in lists["classes"]]
    examples = [_example(file, each) for each in lists["examples"]]
    try:
        Template(**found, version=1, classes=tuple(classes), examples=tuple(examples)).check()
    except OptionError as error:
        raise _wrong(file, error.option, error.problem) from error
    return found | {"classes": classes, "examples": examples}


def is_name(name: str) -> bool:
    """Return whether a template can have this name."""
    try:
        validate_template_name(name)
    except ValidationError:
        return False
    return name != "add"


def _text(file: str, field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(file, field, message("judge.field-text", "it is not text."))
    # Databases store neither halves of characters nor zeros.
    text = value.encode(errors="replace").decode()
    return text.replace("\r\n", "\n").replace("\0", "�")


def _list(file: str, field: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(file, field, message("judge.field-list", "it is not a list."))
    return value


def _example(file: str, value: Any) -> tuple[str, str]:
    if not isinstance(value, dict) or set(value) != {"user", "assistant"}:
        problem = message(
            "judge.field-example", "an example is an object with “user” and “assistant”."
        )
        raise _wrong(file, "examples", problem)
    return _text(file, "examples", value["user"]), _text(file, "examples", value["assistant"])


def _wrong(file: str, field: str, problem: Message) -> DataError:
    return DataError(
        message("judge.file-field", "{file}, field {field}: {problem}",
                file=file, field=field, problem=problem)
    )  # fmt: skip
