"""Which parameters a page reads: found by listening, so that no list has to be kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.utils.datastructures import MultiValueDict

METHODS = ("__getitem__", "get", "getlist", "__contains__")


@contextmanager
def listening() -> Iterator[set[str]]:
    """Yield the names that are asked of queries, forms and sent files meanwhile."""
    heard: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for method in METHODS:
            patch.setattr(MultiValueDict, method, _noting(method, heard), raising=True)
        yield heard


def _noting(method: str, heard: set[str]) -> Any:
    original = getattr(MultiValueDict, method)

    def noting(self: Any, name: Any, *rest: Any, **named: Any) -> Any:
        if isinstance(name, str) and "\0" not in name:
            heard.add(name)
        return original(self, name, *rest, **named)

    return noting
