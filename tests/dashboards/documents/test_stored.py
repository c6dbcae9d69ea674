"""Documents as they are stored: what comes back, and what an older version left."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest

from dashboards.documents.computing import encoded, pack, settled, unpack

NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    n: int
    rows: Sequence[Row] = ()
    table: Sequence[Sequence[float | None]] = ()
    ends: tuple[float | None, float | None] | None = None
    stored_again: Mapping[str, float | None] = field(default_factory=dict)


def test_what_is_not_finite_is_null() -> None:
    rows = [Row(name="a", value=NAN), Row(name="b", value=-np.inf), Row(name="c", value=0.1 + 0.2)]
    written = json.loads(encoded(Found(n=1, rows=rows, ends=(NAN, 1.0), stored_again={"x": NAN})))
    assert [row["value"] for row in written["rows"]] == [None, None, 0.1 + 0.2]
    assert (written["ends"], written["stored_again"]) == ([None, 1.0], {"x": None})


def test_arrays_and_their_numbers_are_lists_and_numbers() -> None:
    table = np.array([[1.5, np.nan], [np.inf, 2.5]])
    found = settled(Found(n=np.int64(3), table=table))  # type: ignore[arg-type]
    assert found == Found(n=3, rows=[], table=[[1.5, None], [None, 2.5]])


def test_what_is_stored_comes_back() -> None:
    found = Found(n=2, rows=[Row(name="a", value=1e-300)], ends=(0.1, 0.3))
    assert unpack(pack(found), Found) == settled(found) == Found(**vars(found) | {"table": []})


def test_another_shape_is_no_document() -> None:
    @dataclass(frozen=True)
    class Older:
        rows: Sequence[str]

    assert unpack(pack(Older(["a"])), Found) is None
    assert unpack(pack({"n": "two"}), Found) is None
    # What a newer version adds with a default is no reason to compute again.
    assert unpack(pack({"n": 2, "is_gone": True}), Found) == Found(n=2)


def test_what_could_not_be_read_again_is_not_stored() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"Expected `float \| null`, got `str`"):
        pack(Found(n=1, rows=[Row(name="a", value="high")]))  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="complex"):
        pack(Found(n=1, stored_again={"x": 1j}))  # type: ignore[dict-item]
