"""A protocol that a campaign composes of a preset: segments × systems × answers of its own.

As they are stored on the campaign and stand in campaign files::

    {"segments": "document", "systems": "several",
     "scales": [{"name": "Fluency", "min": 1, "max": 5, "step": 1, "labels": {"1": "none"}}],
     "spans": {"severities": [{"name": "Minor", "weight": 1}],
               "categories": [{"name": "Accuracy", "children": [{"name": "Omission"}]}],
               "weights": [{"category": "Accuracy", "severity": "Minor", "weight": 2}],
               "sides": ["target"], "tokens": ["[missing]"]},
     "text": "prefilled",
     "choices": [{"name": "Usable", "options": ["yes", "no"]}]}

What is left out is as the preset has it; `"scales": []` asks for no score, `"spans": null` for no
marked error and `"text": ""` for no text.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.protocols.asked import Anchor, Choice, Scale, TextField
from annotation.protocols.base import (
    SOURCE,
    TARGET,
    Category,
    Layout,
    Protocol,
    Severity,
    SpanScheme,
)
from annotation.protocols.published import MISSING

Values = Mapping[str, Any]
LONGEST = {"scale": 40, "choice": 40, "severity": 20, "category": 80, "label": 80}


@dataclass
class Faults:
    """What is wrong, by the path of the value: `scales[1].max`."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, sentence: str) -> None:
        """Take in one more."""
        self.found.append((path, sentence))

    def entries(self, path: str, value: Any, most: int) -> Iterator[tuple[str, Values]]:
        """Yield the objects of a list with their paths."""
        if not isinstance(value, list) or len(value) > most:
            self.add(path, f"a list of at most {most} is expected")
            return
        for number, each in enumerate(value):
            own = f"{path}[{number}]"
            if isinstance(each, dict):
                yield own, each
            else:
                self.add(own, "an object is expected")

    def known(self, path: str, value: Values, names: Sequence[str]) -> None:
        """Complain of keys that mean nothing here."""
        if unknown := sorted(set(value) - set(names)):
            self.add(path, f"not known here: {', '.join(unknown)} (there are {', '.join(names)})")

    def name(self, path: str, value: Values, kind: str, taken: Sequence[str]) -> str:
        """Return the name of a `kind` of thing, which none of those taken has."""
        name = value.get("name")
        if not isinstance(name, str) or not 0 < len(name.strip()) <= LONGEST[kind]:
            self.add(f"{path}.name", f"a name of 1 to {LONGEST[kind]} characters is expected")
            return ""
        name = name.strip()
        if any(not each.isprintable() for each in name) or (kind == "category" and "/" in name):
            self.add(
                f"{path}.name", "line breaks, tabs and, in categories, “/” cannot be in a name"
            )
        if kind in ("scale", "choice") and (name.isdecimal() or "__" in name):
            self.add(f"{path}.name", f"the name of a {kind} is no number and has no “__”")
        if name.casefold() in {each.casefold() for each in taken}:
            self.add(f"{path}.name", f"“{name}” is there already")
        return name


MOST_SEVERITIES, MOST_CATEGORIES, DEEPEST = 8, 200, 4
MOST_WEIGHT = 1000
SPAN_KEYS = ("severities", "categories", "weights", "sides", "tokens")


def read_scheme(own: SpanScheme | None, values: Any, faults: Faults) -> SpanScheme | None:
    """Return the errors that are described, what is left out as `own` has it."""
    if not isinstance(values, dict):
        faults.add("spans", "an object is expected")
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
        faults.add(path, "at least one severity is expected")
    return tuple(found)


def _weight(value: Values, path: str, faults: Faults) -> float:
    weight: Any = value.get("weight")
    if type(weight) in (int, float) and math.isfinite(weight) and 0 <= weight <= MOST_WEIGHT:
        return float(weight)
    faults.add(f"{path}.weight", f"a number from 0 to {MOST_WEIGHT} is expected")
    return 0.0


def _categories(values: Any, path: str, above: str, faults: Faults) -> tuple[Category, ...]:
    found: list[Category] = []
    for own, value in faults.entries(path, values, MOST_CATEGORIES):
        faults.known(own, value, ("name", "children"))
        taken = [str(each.label) for each in found]
        name = faults.name(own, value, "category", taken)
        key = f"{above}/{name}" if above else name
        if len(key) > LONGEST["category"] or key.count("/") >= DEEPEST:
            faults.add(own, f"the path “{key[:40]}…” is longer than {LONGEST['category']} "
                       f"characters or deeper than {DEEPEST} levels")  # fmt: skip
            continue
        below = _categories(value.get("children", []), f"{own}.children", key, faults)
        found.append(Category(key, name, below))
    return tuple(found)


def _sides(values: Any, faults: Faults) -> tuple[str, ...]:
    if isinstance(values, list) and values in ([TARGET], [TARGET, SOURCE], [SOURCE, TARGET]):
        return tuple(each for each in (TARGET, SOURCE) if each in values)
    faults.add("spans.sides", f"[“{TARGET}”] or [“{TARGET}”, “{SOURCE}”] is expected")
    return (TARGET,)


def _tokens(values: Any, faults: Faults) -> tuple[str, ...]:
    fits = isinstance(values, list) and len(values) <= 20
    if fits and all(isinstance(each, str) and 0 < len(each) <= 80 for each in values):
        return tuple(values)
    faults.add("spans.tokens", "at most 20 texts of 1 to 80 characters are expected")
    return ()


def _weights(values: Any, scheme: SpanScheme, faults: Faults) -> dict[tuple[str, str], float]:
    known, found = _all_keys(scheme.categories), {}
    for path, value in faults.entries("spans.weights", values, MOST_CATEGORIES):
        faults.known(path, value, ("category", "severity", "weight"))
        pair = str(value.get("category")), str(value.get("severity"))
        if pair[0] not in known:
            faults.add(f"{path}.category", f"there is no category “{pair[0][:80]}”")
        if pair[1] not in scheme.severity_keys:
            faults.add(f"{path}.severity", f"there is no severity “{pair[1][:40]}”")
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
    """Return a protocol with a campaign's own parts in the place of its own.

    The values have been checked before; see `check`.
    """
    return read(protocol, values, Faults()) if values else protocol


def check(protocol: Protocol, values: Any) -> list[tuple[str, str]]:
    """Return what stands against the values as (path, sentence); empty if nothing does."""
    faults = Faults()
    if not isinstance(values, dict):
        return [("", "an object is expected")]
    found = read(protocol, values, faults)
    if not faults.found and not (found.scales or found.spans or found.text):
        alone = "a choice gives no score" if found.choices else "nothing is asked"
        faults.add("", f"{alone}: add a scale, errors to mark, or post-editing")
    if found.spans and found.layout.has_systems and SOURCE in found.spans.sides:
        faults.add("spans.sides", "beside several systems, an error in the source belongs to none "
                   "of them: leave the source out, mark what is missing by a token")  # fmt: skip
    scales, choices = (
        {each.key.casefold() for each in part} for part in (found.scales, found.choices)
    )
    if scales & choices:
        faults.add("choices", "a scale and a choice cannot have the same name")
    return faults.found


def read(protocol: Protocol, values: Values, faults: Faults) -> Protocol:
    """Return the composed protocol as far as the values can be read."""
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
    """Put a preset on another grid; beside several systems, omissions get a token."""
    usual = {"segments": protocol.layout.has_documents, "systems": protocol.layout.has_systems}
    found = dict(usual)
    for key, words in GRID.items():
        if (value := values.get(key)) is not None:
            if value not in words:
                faults.add(key, f"{str(value)[:20]!r} is none of {', '.join(words)}")
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
            faults.add(f"{path}.max", f"the greatest value must be above the least, {low}")
        elif step < 1 or (high - low) % step:
            faults.add(f"{path}.step", f"steps of {step} do not lead from {low} to {high}")
        else:
            anchors = tuple(_labels(value.get("labels", {}), f"{path}.labels", low, high, faults))
            found.append(Scale(name, low, high, step, anchors))
    return tuple(found)


def _whole(value: Any, path: str, faults: Faults) -> int:
    if type(value) is int and -MOST_VALUE <= value <= MOST_VALUE:
        return value
    bounds = f"from -{MOST_VALUE} to {MOST_VALUE}"
    faults.add(path, f"a whole number {bounds} is expected, not {value!r}")
    return 0


def _labels(values: Any, path: str, low: int, high: int, faults: Faults) -> list[Anchor]:
    if not isinstance(values, dict) or len(values) > MOST_LABELS:
        faults.add(path, "an object of words by value is expected")
        return []
    found = []
    for key, words in values.items():
        digits = key.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and low <= int(key[:6]) <= high):
            faults.add(path, f"“{key[:20]}” is no value from {low} to {high}")
        elif not isinstance(words, str) or not 0 < len(words.strip()) <= LONGEST["label"]:
            faults.add(f"{path}.{key}", f"1 to {LONGEST['label']} characters are expected")
        else:
            found.append(Anchor(int(key), words.strip()))
    return sorted(found, key=lambda anchor: anchor.low)


def _text(value: Any, faults: Faults) -> TextField:
    if value in list(TextField):
        return TextField(value)
    faults.add("text", f"{value!r} is none of {', '.join(filter(None, TextField))}")
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
        faults.add(path, f"2 to {MOST_OPTIONS} different texts are expected")
    elif not all(0 < len(each) <= LONGEST["label"] and each.isprintable() for each in given):
        faults.add(path, f"1 to {LONGEST['label']} characters in one line are expected")
    return tuple(given)
