"""Read a JSON file as a checked campaign in memory; every error names file and path."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as Fault

from annotation.imports.drafts import ItemDraft
from annotation.imports.jsonfiles import missing_key, read_json, unexpected_type
from annotation.models import Item
from annotation.protocols import Span
from annotation.uploads import InputFile, Report, SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.formats.base import CAMPAIGN_FILE
from annotation.uploads.media.attachments import attach, read_attachments, use_file_as_source
from annotation.uploads.problems import Place
from annotation.uploads.tables.cells import BOOLEAN, LIST, NULL, NUMBER, OBJECT, TEXT
from core import languages
from metaeval.messages import Message, message

SCHEMA = Path(__file__).with_name("schema.json")
MOST_FAULTS = 200


@dataclass(frozen=True)
class CampaignFile:
    """The content of a file: a test set, settings by name, items, texts by language, people.

    `texts` is None for the standard instructions; `secret` is empty if the campaign gets a new
    one.
    """

    file: str
    test_set: TestSetDraft
    settings: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str]] | None = None
    items: list[ItemDraft] = field(default_factory=list)
    people: int = 0
    suggestions: Mapping[str, Any] | None = None
    secret: str = ""


def is_own(values: Any) -> bool:
    """Return True for a file of Touchstone, False for one of another tool."""
    return isinstance(values, dict) and "touchstone" in values


def read(file: InputFile, report: Report, media: Sequence[InputFile] = ()) -> CampaignFile | None:
    """Read a file, or report everything that is wrong with it.

    `media` are the recordings and pictures that it names, or archives of them.
    """
    values = read_json(file, report, CAMPAIGN_FILE)
    if report.errors:
        return None
    lacking: set[Place] = set()
    for fault in islice(_validator().iter_errors(values), MOST_FAULTS):
        place = Place(file.name, None, _path(fault))
        # The validator has a fault for each missing key, and each of them names all keys.
        if fault.validator != "required":
            report.error(_refusal(fault), place)
        elif place not in lacking:
            lacking.add(place)
            for key in (key for key in fault.validator_value if key not in fault.instance):
                report.error(missing_key(key), place)
    if report.errors:
        return None
    whole = _drafted(file.name, values, report)
    segments = whole.test_set.segments
    attach(segments, media, report, partial(_beside_place, file.name))
    return whole


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _path(fault: Fault) -> str:
    """Return a path such as `texts.segments[3].source`; segments and items count from 0."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.absolute_path)
    return "".join(steps).lstrip(".")


def _refusal(fault: Fault) -> Message:
    given, wanted = fault.instance, fault.validator_value
    if fault.validator == "additionalProperties" and wanted is False:
        known = fault.schema["properties"]
        return message(
            "json.keys-unknown",
            "Unknown keys: {keys}. The known keys are {known}.",
            keys=sorted(set(given) - set(known)),
            known=list(known),
        )
    if fault.validator == "type":
        wanted = [wanted] if isinstance(wanted, str) else wanted
        return unexpected_type(given, *(TYPES[each] for each in wanted))
    if fault.validator == "enum":
        return message(
            "json.choice",
            "“{value}” is not one of {choices}.",
            value=str(given),
            choices=[str(each) for each in wanted],
        )
    if fault.validator == "const":
        return message(
            "campaign-file.version",
            "The file has version {version} of the format; this program reads version {known}.",
            version=str(given),
            known=str(wanted),
        )
    return message(
        "json.schema",
        "The value is not valid. The JSON Schema validator says: “{reason}”.",
        reason=str(fault.message),
    )


TYPES = {
    "string": TEXT,
    "integer": message("cell.whole-number", "a whole number"),
    "number": NUMBER,
    "boolean": BOOLEAN,
    "object": OBJECT,
    "array": LIST,
    "null": NULL,
}


def _drafted(name: str, values: Mapping[str, Any], report: Report) -> CampaignFile:
    _unique(name, [each["id"] for each in values["texts"]["segments"]], report)
    settings = {**values.get("checks", {}), **values["task"]}
    return CampaignFile(
        name,
        _test_set(name, values["texts"], report),
        settings,
        values.get("instructions"),
        [_item(each) for each in values.get("items", [])],
        values.get("people", 0),
        values.get("suggestions"),
        values.get("secret", ""),
    )


def _unique(name: str, keys: list[str], report: Report) -> None:
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key in seen:
            place = Place(name, None, f"texts.segments[{number}].id")
            report.error(message("campaign-file.id", "The id “{id}” occurs twice.", id=key), place)
        seen.add(key)


def _test_set(name: str, texts: Mapping[str, Any], report: Report) -> TestSetDraft:
    draft = TestSetDraft(
        slug=texts.get("slug") or "",
        name=texts["name"],
        source_language=_language(name, texts, "source_language", report),
        target_language=_language(name, texts, "target_language", report),
        description=texts.get("description", ""),
        segments=[
            _segment(each, partial(_beside_place, name, i), report)
            for i, each in enumerate(texts["segments"])
        ],
    )
    draft.systems += [
        SystemDraft(
            each["name"],
            str(each.get("length_ratio", 1)),
            dict(each["outputs"]),
            each.get("is_human"),
        )
        for each in texts["systems"]
    ]
    return draft


def _segment(
    each: Mapping[str, Any], place: Callable[[str], Place], report: Report
) -> SegmentDraft:
    references = dict(each.get("references", {}))
    attachments = read_attachments(each, place, report)
    segment = SegmentDraft(
        each["id"],
        each["source"],
        each.get("document", ""),
        references,
        attachments,
        each.get("domain", ""),
    )
    use_file_as_source(segment)
    return segment


def _beside_place(name: str, number: int, field: str) -> Place:
    return Place(name, None, f"texts.segments[{number}].{field}")


def _language(name: str, texts: Mapping[str, Any], key: str, report: Report) -> str:
    try:
        return languages.find(texts[key])
    except languages.LanguageError as error:
        report.error(error.message, Place(name, None, f"texts.{key}"))
        return "en"


def _item(each: Mapping[str, Any]) -> ItemDraft:
    rest = {key: value for key, value in each.items() if key not in ("kind", "suggestions")}
    spans = tuple(Span(*span) for span in each.get("suggestions", ()))
    return ItemDraft(kind=Item.Kind(each["kind"]), suggestions=spans, **rest)
