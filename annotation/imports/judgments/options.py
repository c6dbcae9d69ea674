"""Options of an import that a person states: names, languages, protocol, scale, rules."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from annotation import protocols
from annotation.models import Campaign
from annotation.protocols.composed import MOST_WEIGHT
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import FIRST, unnamed
from core import languages
from metaeval.messages import message

LAST_WINS = "last"
YES = ("true", "1", "yes", "on")
# What comes first in dates such as 8/4/2025.
ORDERS = ("day", "month")
SCALE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|:|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Options:
    """How tables are to be read; an empty text leaves it to the tables.

    `columns` maps columns to fields, an empty field meaning that a column is not used. `directions`
    maps names of published scores to what of them is better: `lower` or `higher`.
    `folder` is where the files lie. `annotator` and `system` stand where the tables name none.
    `scale` is the scale of the scores, mapped linearly to 0–100. `ties` says what becomes of two
    different answers of one person to one thing whose order no time tells. `critical` is what a
    critical error weighs, from 0 to 1000, None where nobody said so, and `severity` that of errors
    that name none. `ends_included`: offsets of error spans name the last character, not the one
    behind it. `dates` is what comes first in dates with slashes. `is_named`: a person stated the
    name.
    """

    name: str = ""
    study: str = ""
    folder: str = ""
    source_language: str = ""
    target_language: str = ""
    test_set: str = ""
    protocol: str = ""
    annotator: str = ""
    system: str = ""
    scale: tuple[float, float] | None = None
    ties: str = ""
    critical: float | None = None
    severity: str = ""
    ends_included: bool = False
    time_zone: str = ""
    dates: str = ""
    shown_text: str = Campaign.ShownText.SOURCE
    columns: Mapping[str, str] = field(default_factory=dict)
    directions: Mapping[str, str] = field(default_factory=dict)
    is_named: bool = False


LOWER, HIGHER = "lower", "higher"


def read_options(words: Mapping[str, Any], report: Report) -> Options:
    """Return the options that a form, a command or a program gave as text; errors are reported."""
    given = {name: str(value).strip() for name, value in words.items() if value not in (None, "")}
    language = {
        side: _language(given.get(side, ""), side, report)
        for side in ("source_language", "target_language")
    }
    _among("protocol", given, protocols.PROTOCOLS, report)
    _among("dates", given, ORDERS, report)
    _among("ties", given, (LAST_WINS,), report)
    _among("shown_text", given, Campaign.ShownText.values, report)
    plain = (
        *("name", "study", "folder", "test_set", "protocol", "annotator", "system", "ties"),
        *("shown_text", "dates", "severity"),
    )
    return Options(
        **dict[str, Any]({name: given[name] for name in plain if name in given}),
        **dict[str, Any](language),
        scale=_scale(given.get("scale", ""), report),
        critical=_weight(given.get("critical", ""), report),
        ends_included=given.get("ends_included", "").lower() in YES,
        time_zone=_zone(given.get("time_zone", ""), report),
        columns=stated_columns(given, report),
        directions=_directions(given.get("directions", ""), report),
    )


def _directions(text: str, report: Report) -> dict[str, str]:
    """Read a JSON object of names and directions."""
    found = read_columns(text, report)
    if wrong := [each for each in found.values() if each not in (LOWER, HIGHER)]:
        refusal = message(
            "judgments.unknown-direction", "“{text}” is neither lower nor higher.", text=wrong[0]
        )
        report.error(refusal, Place(field="directions"))
    return found


def _language(code: str, name: str, report: Report) -> str:
    """Return the code of a language, which may be given by its name."""
    try:
        return languages.find(code) if code else ""
    except languages.LanguageError as error:
        report.error(error.message, Place(field=name))
        return ""


def _among(name: str, given: Mapping[str, str], known: Any, report: Report) -> None:
    if given.get(name) and given[name] not in known:
        refusal = message(
            "judgments.unknown-choice",
            "“{value}” is not a valid choice. Use one of {choices}.",
            value=given[name],
            choices=list(known),
        )
        report.error(refusal, Place(field=name))


def _scale(text: str, report: Report) -> tuple[float, float] | None:
    """Read `0-6`, `1 to 5` or `-25:0`."""
    if not text:
        return None
    found = SCALE.fullmatch(text)
    if found and float(found[1]) < float(found[2]):
        return float(found[1]), float(found[2])
    refusal = message(
        "judgments.not-a-scale", "“{text}” is not a scale. Write its ends, such as 0-6.", text=text
    )
    report.error(refusal, Place(field="scale"))
    return None


def _weight(text: str, report: Report) -> float | None:
    if not text:
        return None
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if 0 <= weight <= MOST_WEIGHT:
        return weight
    refusal = message(
        "judgments.not-a-weight",
        "“{text}” is not a weight between 0 and {most}.",
        text=text[:20],
        most=MOST_WEIGHT,
    )
    report.error(refusal, Place(field="critical"))
    return None


def _zone(name: str, report: Report) -> str:
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        refusal = message(
            "judgments.not-a-time-zone",
            "“{text}” is not a time zone. Write one such as Europe/Berlin or UTC.",
            text=name,
        )
        report.error(refusal, Place(field="time_zone"))
        return ""
    return name


def stated_columns(words: Mapping[str, str], report: Report) -> dict[str, str]:
    """Return the stated fields of columns. A table that begins with data has a column 1."""
    columns = read_columns(words.get("columns", ""), report)
    is_headless = words.get("headless", "").lower() in YES
    return {FIRST: ""} | columns if is_headless and not unnamed({"": columns}) else columns


def read_columns(text: str, report: Report) -> dict[str, str]:
    """Return what a JSON object of columns and fields says; columns are in lower case here."""
    if not text:
        return {}
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
        refusal = message(
            "judgments.columns-not-json",
            "Columns must be a JSON object of columns and fields, such as {example}.",
            example='{"worker": "annotator"}',
        )
        report.error(refusal, Place(field="columns"))
        return {}
    return values
