"""Ask refusals for the codes of their messages."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.exceptions import ValidationError

from core.messages import messages_of


@contextmanager
def refused(*codes: str) -> Iterator[None]:
    """Expect a ValidationError with these messages, in order."""
    with pytest.raises(ValidationError) as caught:
        yield
    assert [each.code for each in messages_of(caught.value)] == list(codes)
