"""A door for tests of the machinery: what it has stored waits at the gate of its site."""

import os
import time
from pathlib import Path
from typing import Any

from annotation.doors import Campaigns
from annotation.imports.background import Found
from annotation.models import FileImport
from tests.metrics.fakes import may_pass


class Gated(Campaigns):
    """Names its process at the gate, between storing and the end of the transaction."""

    def store(self, row: FileImport, found: Found) -> dict[str, Any]:
        stored = super().store(row, found)
        var = Path(os.environ["TOUCHSTONE_VAR"])
        (var / f"at-gate-{os.getpid()}").touch()
        while not may_pass(var / "gate"):
            time.sleep(0.02)
        return stored


gated = Gated()
