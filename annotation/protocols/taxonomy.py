"""A campaign's own errors: severities, a tree of categories, weights, and tokens."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from annotation.protocols.base import SOURCE, TARGET, Category, Severity, SpanScheme
from annotation.protocols.faults import LONGEST, Faults, Values

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
