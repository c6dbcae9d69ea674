"""Ask refusals for the codes of their messages."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.exceptions import ValidationError

from core.messages import messages_of
from metaeval.messages import MessageError


@contextmanager
def refused(*codes: str, kind: type[Exception] = ValidationError) -> Iterator[None]:
    """Expect a ValidationError, or a MessageError of a kind, with these messages in order."""
    with pytest.raises(kind) as caught:
        yield
    error = caught.value
    found = [error.message] if isinstance(error, MessageError) else messages_of(error)  # type: ignore[arg-type]
    assert [each.code for each in found] == list(codes)
