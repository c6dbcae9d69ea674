"""Settings refuse bad values by name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import (
    email_settings,
    env_bool,
    env_int,
    env_list,
    env_networks,
    judge_endpoints,
    secret_key,
    site_url,
)
from core import gc_tuning
from core.work.brokers import transport_options

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("value", "expected"), [("YES", True), ("1", True), ("off", False)])
def test_switches(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("SWITCH", value)
    assert env_bool("SWITCH", not expected) is expected


def test_bad_values_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCH", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="SWITCH must be yes or no, not 'perhaps'"):
        env_bool("SWITCH", True)
    with pytest.raises(ImproperlyConfigured, match="SWITCH must be a whole number"):
        env_int("SWITCH", 1)


def test_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXIES", "10.0.0.0/24, ::1, unix")
    assert env_networks("PROXIES") == ["10.0.0.0/24", "::1", "unix"]
    for wrong in ("10.0.0.1/24", "proxy", "*"):
        monkeypatch.setenv("PROXIES", wrong)
        with pytest.raises(ImproperlyConfigured, match="PROXIES must list addresses"):
            env_networks("PROXIES")


def test_lists_drop_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTS", " a.example, ,b.example,")
    assert env_list("HOSTS", "") == ["a.example", "b.example"]


def test_a_key_is_made_once_and_kept_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    key = secret_key(tmp_path, debug=False)
    assert len(key) >= 50
    assert secret_key(tmp_path, debug=False) == key
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("DATABASE_URL", "postgres://db/x")
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY must be set"):
        secret_key(tmp_path, debug=False)


def test_a_mail_server_in_one_address() -> None:
    found = email_settings("smtp+tls://me%40example.org:p%3Aw@mail.example.org")
    assert found["EMAIL_HOST"] == "mail.example.org"
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("me@example.org", "p:w")
    assert (found["EMAIL_PORT"], found["EMAIL_USE_TLS"], found["EMAIL_USE_SSL"]) == (
        587,
        True,
        False,
    )
    plain = email_settings("smtp://localhost:2525")
    assert (plain["EMAIL_PORT"], plain["EMAIL_USE_TLS"]) == (2525, False)
    assert email_settings("smtps://h")["EMAIL_PORT"] == 465
    assert "console" in email_settings("console:")["EMAIL_BACKEND"]


@pytest.mark.parametrize("url", ["mail.example.org", "imap://h", "smtp://", "smtp://u:geheim@h:x"])
def test_a_bad_mail_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL") as caught:
        email_settings(url)
    assert "geheim" not in str(caught.value)


def test_the_address_of_the_site() -> None:
    assert site_url("https://mt.example.org/") == "https://mt.example.org"
    with pytest.raises(ImproperlyConfigured, match="SITE_URL must look like"):
        site_url("mt.example.org")


def test_the_embedded_broker_has_its_folders(tmp_path: Path) -> None:
    options = transport_options("filesystem://", tmp_path / "broker")
    assert Path(str(options["data_folder_in"])).is_dir()
    redis = transport_options("redis://localhost", tmp_path)
    assert "visibility_timeout" in redis
    assert "visibility_timeout" not in transport_options("amqp://localhost", tmp_path)


def test_a_worker_that_would_unpickle_refuses_to_start(tmp_path: Path) -> None:
    """As the documentation starts it: the program gets no folder of modules, and no settings."""
    ours = ("DJANGO_SETTINGS_MODULE", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in ours} | {
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
        "TOUCHSTONE_VAR": str(tmp_path),
        "CELERY_BROKER_URL": "filesystem://",
    }
    celery = Path(sys.executable).with_name("celery")
    command = [celery, "-A", "config", "worker", "--pool", "solo"]
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode != 0
    assert "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD" in result.stderr


LOADED = """
import gc, sys
from celery.signals import worker_init
from config.celery import app
app.loader.init_worker()
worker_init.send(sender=None)
before = set(sys.modules)
from config.redaction import redact
from core.work.models import all_kinds
assert list(all_kinds()) and redact("x") == "x"
print(sorted(set(sys.modules) - before))
print(len(gc.get_objects()) < gc.get_freeze_count(), gc.get_threshold())
"""


def test_threads_of_a_worker_have_nothing_left_to_load(tmp_path: Path) -> None:
    """Or they may find a module that another one is loading. What is loaded is not looked through
    for garbage, collected as often as Python does by default."""
    environment = os.environ | {
        "TOUCHSTONE_VAR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    told = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert told.stdout.splitlines() == ["[]", f"True {gc_tuning.USUAL}"]


READ = """
from config import settings
print(settings.SECRET_KEY, settings.DATABASES["default"]["NAME"], settings.CELERY_BROKER_URL)
print(settings.EMAIL_HOST, settings.PROMETHEUS_TOKEN, settings.os.environ["JUDGE_KEY"])
"""


def test_secrets_are_read_from_files(tmp_path: Path) -> None:
    values = {
        "SECRET_KEY": "key",
        "DATABASE_URL": "postgres://h/db",
        "CELERY_BROKER_URL": "redis://b/1",
        "EMAIL_URL": "smtp://mail",
        "PROMETHEUS_TOKEN": "token",
        "JUDGE_KEY": "judge",
    }
    environment = {name: value for name, value in os.environ.items() if name not in values}
    environment["TOUCHSTONE_VAR"] = str(tmp_path)
    environment["JUDGE_ENDPOINTS"] = json.dumps([GOOD | {"key_variable": "JUDGE_KEY"}])
    for name, value in values.items():
        path = tmp_path / name
        path.write_text(f"{value}\n")
        environment[f"{name}_FILE"] = str(path)

    def read(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", READ],
            cwd=ROOT, env=environment | more, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert read().stdout.split() == ["key", "db", "redis://b/1", "mail", "token", "judge"]
    assert "SECRET_KEY_FILE differ" in read(SECRET_KEY="another").stderr
    assert "PROMETHEUS_TOKEN_FILE" in read(PROMETHEUS_TOKEN_FILE="/nowhere").stderr


GOOD = {"name": "local", "url": "http://10.0.0.7:8000/v1"}


def test_endpoints_of_judges_are_read() -> None:
    given = GOOD | {"connections": 32, "allow_private": True, "prompt_price": 1, "timeout": 2.5}
    assert judge_endpoints(json.dumps([given])) == [given]
    assert judge_endpoints("") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("{}", "must be a list of objects"),
        (json.dumps([GOOD, GOOD]), "two endpoints named local"),
        (json.dumps([{"url": GOOD["url"]}]), "endpoint 1: name must have"),
        *(
            (json.dumps([GOOD | wrong]), f"endpoint .*: {why}")
            for wrong, why in (
                ({"key": "sk-123"}, "there is no field 'key'"),
                ({"key_variable": "sk-123"}, "key_variable must be the name"),
                ({"url": "ftp://x/v1"}, "url must look like"),
                ({"url": "http://user:secret@host/v1"}, "url must not contain a user name"),
                ({"url": "http://host/v1?key=1"}, "url must look like"),
                ({"connections": 0}, "connections must be between"),
                ({"connections": True}, "connections has a value of the wrong type"),
                ({"timeout": "5"}, "timeout has a value of the wrong type"),
                ({"prompt_price": -1}, "prices must be from 0"),
                ({"name": "Über"}, "name must have 1 to 40"),
            )
        ),
    ],
)
def test_bad_endpoints_are_refused_by_name_and_field(text: str, why: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=why) as refused:
        judge_endpoints(text)
    assert "sk-123" not in str(refused.value)
    assert "secret" not in str(refused.value)
