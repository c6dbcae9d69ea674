"""`check --deploy` refuses what must not face a network."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config.checks import is_ready_to_deploy

ROOT = Path(__file__).parents[2]
GOOD = "k2j4h5g6f7d8s9a0" * 4


def _errors(settings: Any, **changes: Any) -> set[str]:
    for name, value in changes.items():
        setattr(settings, name, value)
    return {str(error.id) for error in is_ready_to_deploy(None)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, set()),
        ({"SECRET_KEY": "a"}, {"touchstone.E001"}),
        ({"SECRET_KEY": "ab" * 40}, {"touchstone.E001"}),
        ({"HTTPS": False}, {"touchstone.E002"}),
        ({"SECURE_HSTS_SECONDS": 0}, {"touchstone.E003"}),
    ],
)
def test_errors(settings: Any, changes: dict[str, Any], expected: set[str]) -> None:
    good = {"SECRET_KEY": GOOD, "HTTPS": True, "SECURE_HSTS_SECONDS": 3600}
    assert _errors(settings, **good | changes) == expected


def test_the_command_ends_with_an_error(tmp_path: Path) -> None:
    environment = os.environ | {"SECRET_KEY": "a", "TOUCHSTONE_VAR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "touchstone.E001" in found.stderr
    assert "touchstone.E002" in found.stderr
