"""The literal checks of the specification."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def checks(data_dir: Path) -> dict[str, Any]:
    path = data_dir.parent / "specs" / "reference-free-checks.json"
    return {each["id"]: each for each in json.loads(path.read_text(encoding="utf-8"))["checks"]}
