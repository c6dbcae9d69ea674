"""`check --deploy` refuses what must not face a network, `migrate` what cannot be meant."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from config import checks
from config.checks import can_hold_tables, has_servers, is_complete, is_ready_to_deploy

ROOT = Path(__file__).parents[2]
GOOD = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


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
        ({"SECRET_KEY": "1234567890" * 6}, {"touchstone.E001"}),
        ({"SECRET_KEY": "abcdef" + "g" * 60}, {"touchstone.E001"}),
        ({"SECRET_KEY": f"django-insecure-{GOOD}"}, {"touchstone.E001"}),
        ({"DEBUG": True}, {"touchstone.E004"}),
        ({"TRUSTED_PROXIES": []}, {"touchstone.W001"}),
        ({"HTTPS": False}, {"touchstone.E002"}),
        ({"SECURE_HSTS_SECONDS": 0}, {"touchstone.E003"}),
    ],
)
def test_errors(settings: Any, changes: dict[str, Any], expected: set[str]) -> None:
    good = {
        "SECRET_KEY": GOOD,
        "HTTPS": True,
        "SECURE_HSTS_SECONDS": 3600,
        "TRUSTED_PROXIES": ["10.0.0.1"],
    }
    assert _errors(settings, **good | changes) == expected


def check(var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py check --deploy`."""
    environment = {name: value for name, value in os.environ.items() if name != "DEBUG"}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=environment | {"TOUCHSTONE_VAR": str(var)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.django_db
def test_the_command_ends_with_an_error(settings: Any) -> None:
    settings.SECRET_KEY, settings.HTTPS = "a", False
    with pytest.raises(SystemCheckError, match=r"(?s)touchstone\.E001.*touchstone\.E002"):
        call_command("check", deploy=True)


def test_no_check_names_a_setting_that_nobody_can_set(tmp_path: Path) -> None:
    """Nothing is set but DEBUG; then HTTPS, without HSTS and with a short key."""
    for given in ({"DEBUG": "yes"}, {"HTTPS": "yes", "SECRET_KEY": "short", "HSTS_SECONDS": "0"}):
        found = re.findall(r"\((\w+\.[EW]\d+)\)", check(tmp_path, **given).stderr)
        assert found
        assert [each for each in found if not each.startswith("touchstone.")] == []


def test_a_folder_that_cannot_be_made_is_named() -> None:
    found = check(Path("/dev/null/var"))
    assert found.returncode != 0
    assert "TOUCHSTONE_VAR" in found.stderr


def test_no_database_is_made_where_the_settings_are_missing(tmp_path: Path) -> None:
    """In a copy: without settings, everything goes into a folder beside the code."""
    shutil.copy(ROOT / "manage.py", tmp_path)
    for package in ("config", "core"):
        shutil.copytree(ROOT / package, tmp_path / package)
    missing = ("DATABASE_URL", "TOUCHSTONE_VAR", "DEBUG", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in missing}
    environment["PYTHONPATH"] = str(ROOT)

    def plan(**variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", "migrate", "--plan"]
        return subprocess.run(
            command, cwd=tmp_path, env=environment | variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    refused = plan()
    assert refused.returncode == 1
    assert "touchstone.E006" in refused.stderr
    assert str(tmp_path / "var" / "touchstone.sqlite3") in refused.stderr
    assert plan(TOUCHSTONE_VAR="var").returncode == 0


@pytest.mark.parametrize(("encoding", "expected"), [("UTF8", []), ("SQL_ASCII", ["E005"])])
def test_postgresql_keeps_texts_as_unicode(
    encoding: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = SimpleNamespace(execute=lambda _: None, fetchone=lambda: (encoding,))
    server = SimpleNamespace(vendor="postgresql", cursor=lambda: nullcontext(cursor))
    monkeypatch.setattr(checks, "connections", {"default": server})
    found = [str(error.id).partition(".")[2] for error in can_hold_tables(None, ["default"])]
    assert found == expected


SITE = {
    "HTTPS": True,
    "DATABASES": {"default": {"ENGINE": "core.database.postgresql"}},
    "CELERY_BROKER_URL": "redis://127.0.0.1:6379/0",
    "SITE_URL": "https://mt.example.org",
    "MAILS_LINKS": True,
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}}, ["W002"]),
        ({"CELERY_BROKER_URL": "filesystem://localhost//"}, ["W003"]),
        ({"SITE_URL": "http://localhost:8000"}, ["W004"]),
        ({"MAILS_LINKS": False}, ["W005"]),
        ({"HTTPS": False, "MAILS_LINKS": False}, []),
    ],
)
def test_what_suits_one_machine_only_is_named(
    settings: Any, changes: dict[str, Any], expected: list[str]
) -> None:
    given = SimpleNamespace(**SITE | changes)
    with patch.object(checks, "settings", given):
        assert [str(each.id).partition(".")[2] for each in has_servers(None)] == expected


@pytest.mark.django_db
def test_what_does_not_run_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OSError("refused")

    settings.JUDGE_ENDPOINTS = []
    found = {str(each.id): each.msg for each in is_complete(None)}
    assert found.keys() == {"touchstone.W006"}
    assert "documents-slow" in found["touchstone.W006"]
    assert "judges" not in found["touchstone.W006"]
    monkeypatch.setattr(checks.health, "served_queues", lambda: set(settings.WORK_QUEUES))
    assert is_complete(None) == []
    monkeypatch.setattr(checks.health, "broker", away)
    assert [each.id for each in is_complete(None)] == ["touchstone.E009"]


def test_a_database_that_is_away_is_named(tmp_path: Path) -> None:
    away = {"DATABASE_URL": "postgres://mt:secret-word@127.0.0.1:9/mt", "SECRET_KEY": GOOD}
    found = check(tmp_path, **away)
    assert found.returncode == 1
    assert "touchstone.E007" in found.stderr
    assert "secret-word" not in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["manage.py", "import_scores", "x", __file__],
        ["-m", "touchstone", "export_judgments", "x"],
        ["manage.py", "createsuperuser", "--noinput", "--username", "a", "--email", "a@b.org"],
    ],
)
def test_commands_end_with_one_line_before_there_are_tables(
    tmp_path: Path, words: list[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'db.sqlite3'}"
    given = os.environ | {"DATABASE_URL": url, "TOUCHSTONE_VAR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=given, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert [line[:6] for line in found.stderr.splitlines()] == ["error:"]
