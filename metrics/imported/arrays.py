"""JSON arrays of scores: ``[0.1, 0.2]`` of one system, or ``{"system": [0.1, 0.2]}`` of several."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

# The metric, empty where nobody names it, and scores by system in the order of segments.
Arrays: TypeAlias = tuple[str, Mapping[str, Sequence[Any]]]


class TwiceError(Exception):
    """A key that an object of a file has twice: readers of JSON would take the last."""


def read_arrays(name: str, text: str, metric: str) -> Arrays | None:
    """Return the arrays of a .json file; None for anything else, such as a table of objects.

    An array alone is of the system that the file is called as; arrays by system are of the metric
    that the file is called as, unless `metric` names another. Raises TwiceError for a system that
    is there twice.
    """
    if not name.endswith(".json"):
        return None
    try:
        values = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    stem = PurePath(name).stem
    if isinstance(values, list) and values and not any(isinstance(each, dict) for each in values):
        return metric, {stem: values}
    if isinstance(values, dict) and values and all(isinstance(v, list) for v in values.values()):
        return metric or stem, values
    return None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise TwiceError(next(key for key in keys if keys.count(key) > 1))
    return found
