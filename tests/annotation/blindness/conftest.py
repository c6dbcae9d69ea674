"""Time and chance that repeat to the digit, for whole campaigns."""

import os
import random

import pytest
from django.utils import timezone

from annotation.pool import mixing
from tests.annotation.blindness.worlds import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time and chance by a seed, the ids in addresses included; and controls enough to guess."""
    source = random.Random("blindness")
    monkeypatch.setattr(os, "urandom", source.randbytes)
    monkeypatch.setattr(random, "_urandom", source.randbytes)
    monkeypatch.setattr(mixing, "SCREENS_PER_CONTROL", 4)
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock
