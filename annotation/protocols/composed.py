"""Protocols that a campaign composes: a preset with the campaign's own parts.

The parts, as campaigns and campaign files store them::

    {"segments": "document", "systems": "several",
     "scales": [{"name": "Fluency", "min": 1, "max": 5, "step": 1, "labels": {"1": "none"}}],
     "spans": {"severities": [{"name": "Minor", "weight": 1}],
               "categories": [{"name": "Accuracy", "children": [{"name": "Omission"}]}],
               "weights": [{"category": "Accuracy", "severity": "Minor", "weight": 2}],
               "sides": ["target"], "tokens": ["[missing]"]},
     "text": "prefilled",
     "choices": [{"name": "Usable", "options": ["yes", "no"]}]}

Parts that are missing are those of the preset. `"scales": []` asks for no score, `"spans": null`
for no marked errors, and `"text": ""` for no text.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.protocols.base import (
    SOURCE,
    TARGET,
    Anchor,
    Category,
    Choice,
    Layout,
    Protocol,
    Scale,
    Severity,
    SpanScheme,
    TextField,
)
from annotation.protocols.published import MISSING
from metaeval.messages import Message, message, truncated

Values = Mapping[str, Any]
LONGEST = {"scale": 40, "choice": 40, "severity": 20, "category": 80, "label": 80}
NO_OBJECT = message("protocol.no-object", "An object is expected.")
NO_SCORE = message(
    "protocol.no-score",
    "A choice gives no score: add a scale, errors to mark, or post-editing.",
)
EMPTY = message(
    "protocol.empty",
    "Annotators are asked for nothing: add a scale, errors to mark, or post-editing.",
)


@dataclass
class Faults:
    """What is wrong, with the path of each value, such as `scales[1].max`."""

    found: list[tuple[str, Message]] = field(default_factory=list)

    def add(self, path: str, problem: Message) -> None:
        """Add a problem."""
        self.found.append((path, problem))

    def entries(self, path: str, value: Any, most: int) -> Iterator[tuple[str, Values]]:
        """Yield the objects of a list with their paths."""
        if not isinstance(value, list) or len(value) > most:
            self.add(
                path,
                message("protocol.no-list", "A list of at most {most} is expected.", most=most),
            )
            return
        for number, each in enumerate(value):
            own = f"{path}[{number}]"
            if isinstance(each, dict):
                yield own, each
            else:
                self.add(own, NO_OBJECT)

    def known(self, path: str, value: Values, names: Sequence[str]) -> None:
        """Report unknown keys."""
        if unknown := sorted(set(value) - set(names)):
            error = message(
                "protocol.unknown-keys",
                "Unknown: {unknown}. Expected are {names}.",
                unknown=truncated(unknown),
                names=list(names),
            )
            self.add(path, error)

    def name(self, path: str, value: Values, kind: str, taken: Sequence[str]) -> str:
        """Return the name of a part, `kind` of `LONGEST`; names in `taken` are refused."""
        name = value.get("name")
        if not isinstance(name, str) or not 0 < len(name.strip()) <= LONGEST[kind]:
            error = message(
                "protocol.name-length",
                "A name of 1 to {most} characters is expected.",
                most=LONGEST[kind],
            )
            self.add(f"{path}.name", error)
            return ""
        name = name.strip()
        if any(not each.isprintable() for each in name) or (kind == "category" and "/" in name):
            error = message(
                "protocol.name-characters",
                "Names cannot contain line breaks or tabs, and names of categories no “/”.",
            )
            self.add(f"{path}.name", error)
        if kind in ("scale", "choice") and (name.isdecimal() or "__" in name):
            error = message(
                "protocol.name-reserved",
                "The name of a scale or choice cannot be a number, and cannot contain “__”.",
            )
            self.add(f"{path}.name", error)
        if name.casefold() in {each.casefold() for each in taken}:
            error = message("protocol.name-taken", "“{name}” is used twice.", name=name)
            self.add(f"{path}.name", error)
        return name

    def no_option(self, path: str, value: Any, options: Sequence[str]) -> None:
        """Report a value that is none of the options."""
        error = message(
            "protocol.no-option",
            "“{value}” is unknown. Expected is one of {options}.",
            value=str(value)[:20],
            options=list(options),
        )
        self.add(path, error)


MOST_SEVERITIES, MOST_CATEGORIES, DEEPEST = 8, 200, 4
MOST_WEIGHT = 1000
SPAN_KEYS = ("severities", "categories", "weights", "sides", "tokens")


def read_scheme(own: SpanScheme | None, values: Any, faults: Faults) -> SpanScheme | None:
    """Return the described errors; parts that are missing are those of `own`."""
    if not isinstance(values, dict):
        faults.add("spans", NO_OBJECT)
        return None
    faults.known("spans", values, SPAN_KEYS)
    base = own or SpanScheme(())
    severities = base.severities
    if "severities" in values or not severities:
        severities = _severities(values.get("severities", []), faults)
    categories, weights = base.categories, base.weights
    if "categories" in values:
        tree = values["categories"]
        categories = _categories(tree, "spans.categories", "", faults)
        weights = None
    scheme = SpanScheme(
        severities,
        categories,
        _sides(values.get("sides", list(base.sides)), faults),
        weights,
        _tokens(values.get("tokens", list(base.tokens)), faults),
    )
    if "severities" in values:
        weights = {k: w for k, w in (weights or {}).items() if k[1] in scheme.severity_keys}
    if "weights" in values:
        weights = _weights(values["weights"], scheme, faults)
    return replace(scheme, weights=weights)


def _severities(values: Any, faults: Faults) -> tuple[Severity, ...]:
    path, found = "spans.severities", list[Severity]()
    for own, value in faults.entries(path, values, MOST_SEVERITIES):
        faults.known(own, value, ("name", "weight"))
        name = faults.name(own, value, "severity", [each.key for each in found])
        found.append(Severity(name, name, _weight(value, own, faults)))
    if values == []:
        error = message("protocol.no-severity", "At least one severity is expected.")
        faults.add(path, error)
    return tuple(found)


def _weight(value: Values, path: str, faults: Faults) -> float:
    weight: Any = value.get("weight")
    if type(weight) in (int, float) and math.isfinite(weight) and 0 <= weight <= MOST_WEIGHT:
        return float(weight)
    error = message("protocol.weight", "A number from 0 to {most} is expected.", most=MOST_WEIGHT)
    faults.add(f"{path}.weight", error)
    return 0.0


def _categories(values: Any, path: str, above: str, faults: Faults) -> tuple[Category, ...]:
    found: list[Category] = []
    for own, value in faults.entries(path, values, MOST_CATEGORIES):
        faults.known(own, value, ("name", "children"))
        taken = [str(each.label) for each in found]
        name = faults.name(own, value, "category", taken)
        key = f"{above}/{name}" if above else name
        if len(key) > LONGEST["category"] or key.count("/") >= DEEPEST:
            error = message(
                "protocol.category-path",
                "The path “{path}…” is longer than {most} characters or deeper than {levels} "
                "levels.",
                path=key[:40],
                most=LONGEST["category"],
                levels=DEEPEST,
            )
            faults.add(own, error)
            continue
        below = _categories(value.get("children", []), f"{own}.children", key, faults)
        found.append(Category(key, name, below))
    return tuple(found)


def _sides(values: Any, faults: Faults) -> tuple[str, ...]:
    if isinstance(values, list) and values in ([TARGET], [TARGET, SOURCE], [SOURCE, TARGET]):
        return tuple(each for each in (TARGET, SOURCE) if each in values)
    error = message(
        "protocol.sides",
        "[“{target}”] or [“{target}”, “{source}”] is expected.",
        target=TARGET,
        source=SOURCE,
    )
    faults.add("spans.sides", error)
    return (TARGET,)


def _tokens(values: Any, faults: Faults) -> tuple[str, ...]:
    fits = isinstance(values, list) and len(values) <= 20
    if fits and all(isinstance(each, str) and 0 < len(each) <= 80 for each in values):
        return tuple(values)
    error = message(
        "protocol.tokens",
        "At most {most} texts of 1 to {longest} characters are expected.",
        most=20,
        longest=80,
    )
    faults.add("spans.tokens", error)
    return ()


def _weights(values: Any, scheme: SpanScheme, faults: Faults) -> dict[tuple[str, str], float]:
    known, found = _all_keys(scheme.categories), {}
    for path, value in faults.entries("spans.weights", values, MOST_CATEGORIES):
        faults.known(path, value, ("category", "severity", "weight"))
        pair = str(value.get("category")), str(value.get("severity"))
        if pair[0] not in known:
            error = message("protocol.no-category", "No category “{name}”.", name=pair[0][:80])
            faults.add(f"{path}.category", error)
        if pair[1] not in scheme.severity_keys:
            error = message("protocol.unknown-severity", "No severity “{name}”.", name=pair[1][:40])
            faults.add(f"{path}.severity", error)
        found[pair] = _weight(value, path, faults)
    return found


def _all_keys(categories: Sequence[Category]) -> set[str]:
    return {each.key for each in categories}.union(
        *(_all_keys(each.children) for each in categories)
    )


MOST_SCALES, MOST_LABELS, MOST_CHOICES, MOST_OPTIONS = 8, 101, 4, 12
# Values of scales lie between minus and plus this.
MOST_VALUE = 1000
KEYS = ("segments", "systems", "scales", "spans", "text", "choices")
GRID = {"segments": ("one", "document"), "systems": ("one", "several")}
SCALE_KEYS = ("name", "min", "max", "step", "labels")


def compose(protocol: Protocol, values: Values | None) -> Protocol:
    """Return a preset with a campaign's own parts; `check` must accept the values."""
    return read(protocol, values, Faults()) if values else protocol


def check(protocol: Protocol, values: Any) -> list[tuple[str, Message]]:
    """Return the problems of a campaign's own parts, each with the path of its value."""
    faults = Faults()
    if not isinstance(values, dict):
        return [("", NO_OBJECT)]
    found = read(protocol, values, faults)
    if not faults.found and not (found.scales or found.spans or found.text):
        faults.add("", NO_SCORE if found.choices else EMPTY)
    if found.spans and found.layout.has_systems and SOURCE in found.spans.sides:
        error = message(
            "protocol.source-errors",
            "With several systems on a screen, an error in the source belongs to none of them: "
            "remove the source, and mark omissions with a token.",
        )
        faults.add("spans.sides", error)
    scales, choices = (
        {each.key.casefold() for each in part} for part in (found.scales, found.choices)
    )
    if scales & choices:
        error = message("protocol.same-name", "A scale and a choice cannot have the same name.")
        faults.add("choices", error)
    return faults.found


def read(protocol: Protocol, values: Values, faults: Faults) -> Protocol:
    """Return the composed protocol, as far as the values are valid."""
    faults.known("", values, KEYS)
    protocol = _on_grid(protocol, values, faults)
    if "scales" in values:
        scales = _scales(values["scales"], faults)
        protocol = replace(protocol, scales=scales, anchors=(), length_anchors=(), errorless_from=0)
    if "spans" in values:
        scheme = read_scheme(protocol.spans, values["spans"], faults) if values["spans"] else None
        protocol = replace(protocol, spans=scheme)
    if "text" in values:
        protocol = replace(protocol, text=_text(values["text"], faults))
    if "choices" in values:
        protocol = replace(protocol, choices=_choices(values["choices"], faults))
    return protocol


def _on_grid(protocol: Protocol, values: Values, faults: Faults) -> Protocol:
    """Return a preset with another layout; with several systems, a token marks omissions."""
    usual = {"segments": protocol.layout.has_documents, "systems": protocol.layout.has_systems}
    found = dict(usual)
    for key, words in GRID.items():
        if (value := values.get(key)) is not None:
            if value not in words:
                faults.no_option(key, value, words)
            found[key] = value == words[1]
    if found == usual:
        return protocol
    spans = protocol.spans
    if spans and found["systems"] and SOURCE in spans.sides:
        spans = replace(spans, sides=(TARGET,), tokens=spans.tokens or (MISSING,))
    layout = Layout.of(has_documents=found["segments"], has_systems=found["systems"])
    return replace(protocol, layout=layout, spans=spans)


def _scales(values: Any, faults: Faults) -> tuple[Scale, ...]:
    found: list[Scale] = []
    for path, value in faults.entries("scales", values, MOST_SCALES):
        faults.known(path, value, SCALE_KEYS)
        name = faults.name(path, value, "scale", [each.key for each in found])
        low, high, step = (
            _whole(value.get(key, usual), f"{path}.{key}", faults)
            for key, usual in (("min", 0), ("max", 100), ("step", 1))
        )
        if low >= high:
            error = message(
                "protocol.greatest", "The greatest value must be above the least, {low}.", low=low
            )
            faults.add(f"{path}.max", error)
        elif step < 1 or (high - low) % step:
            error = message(
                "protocol.step",
                "Steps of {step} do not lead from {low} to {high}.",
                step=step,
                low=low,
                high=high,
            )
            faults.add(f"{path}.step", error)
        else:
            anchors = tuple(_labels(value.get("labels", {}), f"{path}.labels", low, high, faults))
            found.append(Scale(name, low, high, step, anchors))
    return tuple(found)


def _whole(value: Any, path: str, faults: Faults) -> int:
    if type(value) is int and -MOST_VALUE <= value <= MOST_VALUE:
        return value
    error = message(
        "protocol.no-whole-number",
        "A whole number from {low} to {high} is expected, not “{value}”.",
        low=-MOST_VALUE,
        high=MOST_VALUE,
        value=str(value)[:20],
    )
    faults.add(path, error)
    return 0


def _labels(values: Any, path: str, low: int, high: int, faults: Faults) -> list[Anchor]:
    if not isinstance(values, dict) or len(values) > MOST_LABELS:
        error = message(
            "protocol.labels", "An object is expected, with values as keys and labels as texts."
        )
        faults.add(path, error)
        return []
    found = []
    for key, words in values.items():
        digits = key.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and low <= int(key[:6]) <= high):
            error = message(
                "protocol.label-value",
                "“{value}” is not a value from {low} to {high}.",
                value=key[:20],
                low=low,
                high=high,
            )
            faults.add(path, error)
        elif not isinstance(words, str) or not 0 < len(words.strip()) <= LONGEST["label"]:
            error = message(
                "protocol.label-length",
                "1 to {most} characters are expected.",
                most=LONGEST["label"],
            )
            faults.add(f"{path}.{key}", error)
        else:
            found.append(Anchor(int(key), words.strip()))
    return sorted(found, key=lambda anchor: anchor.low)


def _text(value: Any, faults: Faults) -> TextField:
    if value in list(TextField):
        return TextField(value)
    faults.no_option("text", value, [each.value for each in TextField if each])
    return TextField.NONE


def _choices(values: Any, faults: Faults) -> tuple[Choice, ...]:
    found: list[Choice] = []
    for path, value in faults.entries("choices", values, MOST_CHOICES):
        faults.known(path, value, ("name", "options"))
        name = faults.name(path, value, "choice", [each.key for each in found])
        found.append(Choice(name, _options(value, f"{path}.options", faults)))
    return tuple(found)


def _options(value: Mapping[str, Any], path: str, faults: Faults) -> Sequence[str]:
    options = value.get("options")
    listed = options if isinstance(options, list) else []
    given = [each.strip() for each in listed if isinstance(each, str)]
    fits = given and len(given) == len(listed)
    if not fits or not 2 <= len(set(given)) == len(given) <= MOST_OPTIONS:
        error = message(
            "protocol.options", "2 to {most} different texts are expected.", most=MOST_OPTIONS
        )
        faults.add(path, error)
    elif not all(0 < len(each) <= LONGEST["label"] and each.isprintable() for each in given):
        error = message(
            "protocol.option-length",
            "1 to {most} characters in one line are expected.",
            most=LONGEST["label"],
        )
        faults.add(path, error)
    return tuple(given)
