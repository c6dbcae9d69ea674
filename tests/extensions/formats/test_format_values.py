"""Feed hostile and strange values to the formats of other tools."""

import copy
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from annotation.uploads import offsets
from annotation.uploads.formats.base import JUDGMENTS, SPANS
from annotation.uploads.offsets import placed
from tests.files import samples
from tests.files.test_formats import NAMES, codes, lines
from tests.files.test_rules import read

pytestmark = pytest.mark.django_db

HOSTILE = (
    None, True, -1, 10**40, 1e308, "x", "\ud800", "\x00", [], [[]], ["a", 1], {}, {"a": {"b": [1]}},
    json.loads("[" * 200 + "]" * 200),
)  # fmt: skip
TREES: dict[str, tuple[list[Any], str]] = {
    "project.json": (samples.TASKS[:1], "json"),
    "minimal.json": (samples.MINIMAL[:1], "json"),
    "ann.jsonl": (samples.DOCCANO, "lines"),
    "all.jsonl": (samples.RELATIONS * 2, "lines"),
    "u1/annotated_instances.jsonl": (samples.POTATO, "lines"),
    "annotations.jsonl": (samples.POTATO_2 * 2, "lines"),
    "user_state.json": ([samples.POTATO_STATE], "json"),
    "sides.json": (samples.SIDES, "json"),
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, dict | list):
            yield from paths(each, (*path, key))


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    tree = copy.deepcopy(tree)
    at = tree
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return tree


def as_text(tree: list[Any], kind: str) -> str:
    return json.dumps(tree) if kind == "json" else lines(tree)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("door", [JUDGMENTS, SPANS])
def test_values_of_wrong_types_are_problems_not_crashes(name: str, door: Any) -> None:
    tree, kind = TREES[name]
    for n, path in enumerate(paths(tree[:1])):
        for value in HOSTILE[n % 2 :: 2]:
            _, report = read(NAMES[str(door)], name, as_text(changed(tree, path, value), kind))
            for problem in report.problems:
                json.dumps(problem.as_json()).encode()


@pytest.mark.parametrize("name", TREES)
def test_every_key_that_is_not_read_is_named(name: str) -> None:
    tree, kind = TREES[name]
    places = [(), *paths(tree)]
    for path in places:
        at: Any = tree
        for key in path:
            at = at[key]
        # Named as a whole: people, and annotations and predictions that are skipped.
        is_whole = path[-1:] == ("completed_by",) or path == (0, "annotations", 2)
        is_whole |= not {"relations", "predictions"}.isdisjoint(path)
        if isinstance(at, dict) and not is_whole:
            added = changed(tree, (*path, "Irgendwas"), "wert")
            _, report = read("judgments", name, as_text(added, kind))
            said = " ".join(map(str, report.problems)).casefold()
            is_mark = "format.unplaced" in codes(report)
            assert "irgendwas" in said or "wert" in said or is_mark, path


@pytest.mark.parametrize("name", TREES)
def test_work_is_proportional_to_the_number_of_rows(name: str) -> None:
    tree, kind = TREES[name]

    def calls(n: int) -> int:
        rows = [copy.deepcopy(tree[0]) | {"id": i, "instance_id": i} for i in range(n)]
        text, count = as_text(rows, kind), 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            read("judgments", name, text)
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    assert calls(400) < 4.5 * calls(100)


def test_a_text_is_looked_through_once_for_all_of_its_marks() -> None:
    text = "a😀" * 2_000
    offsets._positions.cache_clear()
    for n in range(2_000):
        placed({"target": text}, n, n + 1, "no such words" if n % 2 else "a")
    assert offsets._positions.cache_info().misses == 1
