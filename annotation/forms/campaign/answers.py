"""Fields for custom answers: rows of scales and severities, and a taxonomy as indented lines.

The result is a description as in :mod:`annotation.protocols.composed`, which campaign files have
directly.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.protocols.composed import MOST_CHOICES, MOST_SCALES, MOST_SEVERITIES
from metaeval.messages import Message, message

SCALE_ROWS, SEVERITY_ROWS = 3, 4
SCALE_CELLS = ("name", "min", "max", "step", "labels")
USUAL = ("", _("as in the protocol"))
TEXTS = (
    USUAL,
    ("no", _("no")),
    ("prefilled", _("yes, the field contains the output")),
    ("empty", _("yes, the field is empty")),
)
SEGMENTS = (USUAL, ("one", _("one segment")), ("document", _("a document")))
SYSTEMS = (USUAL, ("one", _("one system")), ("several", _("several systems side by side")))
CHOICE_ROWS = 2
CHOICE_CELLS = ("name", "options")
# Parts of the protocol that can be switched off.
WITHOUT: dict[str, Any] = {"scales": [], "spans": None}
# `Punctuation (Minor 0.1, Major 2)`; children are indented.
LINE = re.compile(r"(?P<indent>\s*)(?:- )?(?P<name>[^\s].*?)(?: \((?P<weights>[^()]*\d)\))?\s*")
WEIGHT = re.compile(r"\s*(?P<severity>.*\S)\s+(?P<weight>[\d.]+)\s*")
LABEL = re.compile(r"\s*(?P<value>-?\d{1,4})\s*[=:]\s*(?P<words>.*\S)\s*")


@dataclass
class Rows:
    """The contents of the cells, as typed."""

    scales: list[dict[str, str]] = field(default_factory=list)
    severities: list[dict[str, str]] = field(default_factory=list)
    categories: str = ""
    text: str = ""
    segments: str = ""
    systems: str = ""
    choices: list[dict[str, str]] = field(default_factory=list)
    without: list[str] = field(default_factory=list)

    texts, segment_words, system_words = TEXTS, SEGMENTS, SYSTEMS

    @property
    def choice_rows(self) -> list[dict[str, str]]:
        """The rows to show, with some empty ones."""
        return padded(self.choices, CHOICE_ROWS, MOST_CHOICES)

    @property
    def scale_rows(self) -> list[dict[str, str]]:
        """The rows to show, with some empty ones."""
        return padded(self.scales, SCALE_ROWS, MOST_SCALES)

    @property
    def severity_rows(self) -> list[dict[str, str]]:
        """The rows to show, with some empty ones."""
        return padded(self.severities, SEVERITY_ROWS, MOST_SEVERITIES)


def padded(rows: Sequence[dict[str, str]], least: int, most: int) -> list[dict[str, str]]:
    """Return rows and empty ones: at least one empty row, and at most `most` in total."""
    return [*rows, *({} for _ in range(min(most, max(least, len(rows) + 1)) - len(rows)))]


class AnswersWidget(forms.Widget):
    """Reads the cells, or a complete description: as in a campaign file, or as JSON."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        if isinstance(data.get(name), str):
            # Anything else than what the page itself sends is refused as no object.
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                value = json.loads(data[name] or "null")
                rows_of(value)
                return value
        if name in data:
            return data[name]
        scales = list(_cells(data, f"{name}-scale", SCALE_CELLS, MOST_SCALES))
        severities = list(_cells(data, f"{name}-severity", ("name", "weight"), MOST_SEVERITIES))
        choices = list(_cells(data, f"{name}-choice", CHOICE_CELLS, MOST_CHOICES))
        texts = ("categories", "text", "segments", "systems")
        return Rows(
            scales=scales,
            severities=severities,
            choices=choices,
            without=[part for part in WITHOUT if data.get(f"{name}-no-{part}")],
            **{each: str(data.get(f"{name}-{each}", "")) for each in texts},
        )


def _cells(
    data: Mapping[str, Any], stem: str, names: Sequence[str], most: int
) -> Iterator[dict[str, str]]:
    for number in range(most):
        row = {name: str(data.get(f"{stem}-{number}-{name}", "")).strip() for name in names}
        if any(row.values()):
            yield row


class AnswersField(forms.Field):
    """Cleans to the description of custom answers; None without any."""

    widget = AnswersWidget

    def clean(self, value: Any) -> dict[str, Any] | None:
        """Raise ValidationError with row and cell; the form checks names and bounds."""
        if not isinstance(value, Rows):
            return value or None
        found: dict[str, Any] = {
            key: own for key in ("segments", "systems") if (own := getattr(value, key))
        }
        found |= {part: WITHOUT[part] for part in value.without}
        if value.scales:
            found["scales"] = [_scale(row, n) for n, row in enumerate(value.scales, 1)]
        spans: dict[str, Any] = {}
        if value.severities:
            rows = enumerate(value.severities, 1)
            spans["severities"] = [
                {"name": row["name"], "weight": _number(row["weight"], _severity_cell(n))}
                for n, row in rows
            ]
        if value.categories.strip():
            spans |= read_tree(value.categories)
        if spans:
            found["spans"] = spans
        if value.choices:
            found["choices"] = [_choice(row) for row in value.choices]
        if value.text:
            found["text"] = value.text if value.text != "no" else ""
        return found or None


def _choice(row: Mapping[str, str]) -> dict[str, Any]:
    options = [each.strip() for each in row["options"].split(";")]
    return {"name": row["name"], "options": list(filter(None, options))}


def _scale(row: Mapping[str, str], number: int) -> dict[str, Any]:
    usual = {"min": 0, "max": 100, "step": 1}
    bounds = {
        name: _number(row[name], _scale_cell(number, name)) if row[name] else usual[name]
        for name in usual
    }
    labels = _labels(row["labels"], number)
    return {"name": row["name"], **bounds} | ({"labels": labels} if labels else {})


CELLS = {
    "min": message("answers.min", "From"),
    "max": message("answers.max", "to"),
    "step": message("answers.step", "by steps of"),
}


def _scale_cell(n: int, name: str) -> Message:
    return message("answers.scale-cell", "Scale {n}, {cell}", n=n, cell=CELLS[name])


def _severity_cell(n: int) -> Message:
    return message("answers.severity-cell", "Severity {n}, weight", n=n)


def _line(n: int) -> Message:
    return message("answers.line", "Categories, line {n}", n=n)


def _number(text: str, where: Message) -> float | int:
    try:
        return int(text) if text.removeprefix("-").isdigit() else float(text)
    except ValueError:
        raise ValidationError(
            [
                message(
                    "answers.not-a-number",
                    "{where}: “{text}” is not a number.",
                    where=where,
                    text=text[:20],
                )
            ]
        ) from None


def _labels(text: str, number: int) -> dict[str, str]:
    found = {}
    for part in filter(str.strip, text.split(";")):
        match = LABEL.fullmatch(part)
        if match is None:
            raise ValidationError(
                [
                    message(
                        "answers.words",
                        "Scale {n}, words for values: “{text}” cannot be read. Write them as in "
                        "“1 = none; 5 = all”.",
                        n=number,
                        text=part.strip()[:40],
                    )
                ]
            )
        found[match["value"]] = match["words"]
    return found


def read_tree(text: str) -> dict[str, Any]:
    """Read lines of categories with indented children and their own weights in parentheses.

    >>> read_tree("Fluency\\n  Punctuation (Minor 0.1)")["weights"]
    [{'category': 'Fluency/Punctuation', 'severity': 'Minor', 'weight': 0.1}]

    Raises
    ------
    ValidationError
        For a weight that cannot be read, with its line.
    """
    top: list[dict[str, Any]] = []
    weights: list[dict[str, Any]] = []
    # Indent, children and path of the possible parents of the next line.
    above: list[tuple[int, list[dict[str, Any]], str]] = [(-1, top, "")]
    for number, line in enumerate(text.expandtabs(4).splitlines(), 1):
        if not (match := LINE.fullmatch(line)):
            continue
        indent = len(match["indent"])
        while above[-1][0] >= indent:
            above.pop()
        _indent, siblings, path = above[-1]
        name = match["name"]
        path = f"{path}/{name}" if path else name
        node: dict[str, Any] = {"name": name, "children": []}
        siblings.append(node)
        above.append((indent, node["children"], path))
        weights += _weights(match["weights"], path, number)
    return {"categories": top} | ({"weights": weights} if weights else {})


def _weights(text: str | None, path: str, number: int) -> Iterator[dict[str, Any]]:
    for part in (text or "").split(",") if text else ():
        match = WEIGHT.fullmatch(part)
        if match is None:
            raise ValidationError(
                [
                    message(
                        "answers.no-weight",
                        "{where}: “{text}” has no weight.",
                        where=_line(number),
                        text=part.strip()[:40],
                    )
                ]
            )
        weight = _number(match["weight"], _line(number))
        yield {"category": path, "severity": match["severity"], "weight": weight}


def rows_of(value: Any) -> Rows:
    """Return the contents of the cells for a description, or as typed."""
    if not isinstance(value, dict):
        return value if isinstance(value, Rows) else Rows()
    spans = value.get("spans") or {}
    scales = [
        {name: str(scale.get(name, "")) for name in SCALE_CELLS[:-1]}
        | {
            "labels": "; ".join(
                f"{key} = {words}" for key, words in scale.get("labels", {}).items()
            )
        }
        for scale in value.get("scales", ())
    ]
    severities = [
        {"name": each["name"], "weight": f"{each['weight']:g}"}
        for each in spans.get("severities", ())
    ]
    weights: dict[str, list[str]] = {}
    for each in spans.get("weights", ()):
        weight = f"{each['severity']} {each['weight']:g}"
        weights.setdefault(each["category"], []).append(weight)
    tree = "\n".join(_lines(spans.get("categories", ()), weights, ""))
    choices = [
        {"name": each["name"], "options": "; ".join(each["options"])}
        for each in value.get("choices", ())
    ]
    return Rows(
        scales=scales,
        severities=severities,
        categories=tree,
        text=value["text"] or "no" if "text" in value else "",
        segments=value.get("segments", ""),
        systems=value.get("systems", ""),
        choices=choices,
        without=[part for part in WITHOUT if part in value and not value[part]],
    )


def _lines(
    categories: Sequence[Any], weights: Mapping[str, Sequence[str]], above: str
) -> Iterator[str]:
    for each in categories:
        path = f"{above}/{each['name']}" if above else each["name"]
        own = f" ({', '.join(weights[path])})" if path in weights else ""
        yield "  " * path.count("/") + each["name"] + own
        yield from _lines(each.get("children", ()), weights, path)
