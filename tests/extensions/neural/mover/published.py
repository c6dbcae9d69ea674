"""The literal checks of the specification: inputs, expected values and tolerance, by name."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings

FILE: Path = settings.DATA_DIR.parent / "specs" / "reference-free-checks.json"
CHECKS: dict[str, dict[str, Any]] = {
    check["id"].split("-")[0]: check for check in json.loads(FILE.read_text("utf-8"))["checks"]
}
