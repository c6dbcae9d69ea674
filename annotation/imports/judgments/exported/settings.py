"""Read the settings of a campaign from its exports, or own scales and choices from columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ValidationError

from annotation import protocols
from annotation.campaigns.sampling import read_rule
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.exported.cells import NOT_JSON, parsed
from annotation.imports.judgments.exported.columns import CHOICE, SCALE, answer_field
from annotation.imports.judgments.options import Options
from annotation.models import Campaign
from annotation.protocols import Protocol, composed
from annotation.protocols.base import CRITICAL, Severity
from annotation.uploads.problems import Place, Report
from metaeval.messages import message

# Settings of a campaign that its exports have in one cell, by the names of its fields and drafts,
# with the types of their values.
SETTINGS: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "public_title": (str,),
    "study": (str,),
    "question": (str,),
    "shown_text": (str,),
    "z_pool": (str,),
    "seed": (int,),
    "sample": (dict, type(None)),
    "assignment_mode": (str,),
    "systems_per_screen": (int,),
    "annotators_per_item": (int,),
    "is_prefilled": (bool,),
    "special_tokens": (list, type(None)),
    "answers": (dict, type(None)),
}


def settings_of(answers: Sequence[Answer], report: Report) -> dict[str, Any]:
    """Return the settings of a campaign that its rows state, none for tables of others.

    Rows that disagree are reported.
    """
    found: dict[str, Any] = {}
    for answer in answers:
        values = parsed(answer.row, "settings", dict, report)
        if values and found and values != found:
            refusal = message(
                "judgments.other-settings",
                "This row states other settings of the campaign than an earlier one.",
            )
            report.error(refusal, answer.row.at("settings"))
        if values and not _are_valid(values):
            report.error(NOT_JSON, answer.row.at("settings"))
            values = {}
        found = found or values
    return found


def _are_valid(values: Mapping[str, Any]) -> bool:
    """Whether a campaign can have these values: they are those of its fields."""
    if not all(type(value) in SETTINGS.get(name, ()) for name, value in values.items()):
        return False
    tokens = values.get("special_tokens") or []
    if not all(isinstance(each, str) for each in tokens):
        return False
    own = ("special_tokens", "answers", "sample")
    plain = {n: v for n, v in values.items() if v and n not in own}
    others = [each.name for each in Campaign._meta.fields if each.name not in plain]
    try:
        Campaign(**plain).clean_fields(exclude=others)
        read_rule(values.get("sample"))
    except ValidationError:
        return False
    return True


@dataclass
class Composed:
    """A protocol with a campaign's own parts; `answers` are what a campaign stores of them."""

    protocol: Protocol
    answers: dict[str, Any] | None = None
    tokens: Sequence[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def compose(
    preset: Protocol, answers: Sequence[Answer], options: Options, report: Report
) -> Composed:
    """Return a preset with the parts that settings state, or that columns show."""
    settings = settings_of(answers, report)
    own = settings.get("answers") or {}
    if not settings:
        own = _by_columns(preset, answers, options, report) | _with_critical(
            preset, answers, options
        )
    faults = composed.check(preset, own) if own else []
    for path, fault in faults:
        place = answers[0].row.at("settings") if settings else Place(field=path)
        report.error(fault, place)
    protocol = preset if faults else composed.compose(preset, own)
    tokens = settings.get("special_tokens")
    if tokens is not None and protocol.spans is not None:
        protocol = replace(protocol, spans=replace(protocol.spans, tokens=tuple(tokens)))
    return Composed(protocol, own or None, tokens, settings)


def _by_columns(
    preset: Protocol, answers: Sequence[Answer], options: Options, report: Report
) -> dict[str, Any]:
    """Return own scales, choices and a text, where the preset does not have them."""
    filled = _filled(answers)
    scales = [name for field, name in filled.items() if field.startswith(SCALE)]
    known = {each.key.casefold() for each in preset.scales}
    own: dict[str, Any] = {}
    if any(name.casefold() not in known for name in scales):
        low, high = options.scale or (0, 0)
        if low == high or low != int(low) or high != int(high):
            refusal = message(
                "judgments.own-scales",
                "State the scale of {scales} in whole numbers, such as 1-5.",
                scales=scales,
            )
            report.error(refusal, Place(field="scale"))
        own["scales"] = [{"name": each, "min": int(low), "max": int(high)} for each in scales]
    if choices := {field: name for field, name in filled.items() if field.startswith(CHOICE)}:
        own["choices"] = [
            {"name": name, "options": sorted({a.row.name(field) for a in answers} - {""})}
            for field, name in choices.items()
        ]
    if not preset.text and any(answer.row.name("post_edit") for answer in answers):
        own["text"] = protocols.get("post-editing").text.value
    return own


def _filled(answers: Sequence[Answer]) -> dict[str, str]:
    """Return the fields of scales and choices that have any value, with the names of these."""
    sheets = {id(answer.row.sheet): answer.row.sheet for answer in answers}
    named = {
        field: (title if answer_field(title := sheet.table.titles.get(column, column)) else field)
        .strip()
        .partition("_")[2]
        for sheet in sheets.values()
        for column, field in sheet.fields.items()
        if field.startswith((SCALE, CHOICE))
    }
    return {f: name for f, name in named.items() if any(a.row.name(f) for a in answers)}


def _with_critical(preset: Protocol, answers: Sequence[Answer], options: Options) -> dict[str, Any]:
    """Return the preset's severities with a critical one, if it occurs and has a weight."""
    has_any = any(raw.severity == CRITICAL for answer in answers for raw in answer.spans)
    if preset.spans is None or options.critical is None or not has_any:
        return {}
    severities = [*preset.spans.severities, Severity(CRITICAL, CRITICAL, options.critical)]
    return {"spans": {"severities": [{"name": s.key, "weight": s.weight} for s in severities]}}
