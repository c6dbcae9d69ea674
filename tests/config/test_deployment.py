"""The installation in docs/deployment.md: its commands, files, services and settings are there."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import get_commands, load_command_class

from config.reference.site import VARIABLES
from tests.config.test_checks import check

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "touchstone" / "server"
PAGES = [(ROOT / "docs" / name).read_text() for name in ("deployment.md", "workers.md")]
BLOCKS = [block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)]
LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
UNITS = {path.name: path.read_text() for path in SERVER.glob("touchstone*.*")}


def test_commands_of_manage_py_take_their_options() -> None:
    commands = [shlex.split(line)[1:] for line in LINES if line.startswith("touchstone ")]
    commands += [[name] for name in re.findall(r"^Unit=touchstone@(.+)\.service$", timers(), re.M)]
    commands += [[name] for name in re.findall(r"^ExecStart=\S+ (serve|worker)$", units(), re.M)]
    assert len(commands) >= 8
    for name, *options in commands:
        command = load_command_class(get_commands()[name], name)
        command.create_parser("touchstone", name).parse_args(options)


def timers() -> str:
    return "\n".join(text for name, text in UNITS.items() if name.endswith(".timer"))


def units() -> str:
    return "\n".join(UNITS.values())


def test_shells_understand_every_block() -> None:
    for text in (*BLOCKS, (SERVER / "touchstone").read_text()):
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def test_services_that_are_started_are_there() -> None:
    started = {
        word if "." in word else f"{word}.service"
        for line in LINES
        if re.match("systemctl (enable|start)", line)
        for word in re.findall(r"touchstone-[\w.-]+", line)
    }
    assert started <= UNITS.keys()
    assert {name for name in UNITS if "@" not in name and name.endswith("r.service")} <= started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What `touchstone init` writes for another host, user and folder."""
    folder = tmp_path / "host"
    words = ["init", str(folder), "--host", "mt.acme.org", "--user", "mt", "--var", "/srv/mt"]
    given = ["--database", "postgres://mt:a$b c@db/mt", "--broker", "redis://:x@broker/1"]
    subprocess.run([sys.executable, "-m", "touchstone", *words, *given], cwd=ROOT, check=True)
    return folder


def settings_of(folder: Path) -> dict[str, str]:
    """The settings as a shell reads them."""
    file = folder / "touchstone.env"
    shown = subprocess.run(
        ["env", "-i", "bash", "-c", f"set -ae; . {file}; env"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(line.split("=", 1) for line in shown.stdout.splitlines())


def test_init_writes_the_files_of_this_host(folder: Path) -> None:
    assert (folder / "touchstone.env").stat().st_mode & 0o777 == 0o600
    settings = settings_of(folder)
    assert settings["DATABASE_URL"] == "postgres://mt:a$b c@db/mt"
    assert settings["CELERY_BROKER_URL"] == "redis://:x@broker/1"
    assert settings["SITE_URL"] == "https://mt.acme.org"
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert texts.keys() == {path.name for path in SERVER.iterdir()}
    for name, text in texts.items():
        usual = ("mt.example.org", "/opt/touchstone", "/etc/touchstone", "/var/lib/touchstone")
        assert not [word for word in usual if word in text], name
    services = [text for name, text in texts.items() if name.endswith(".service")]
    assert all("\nUser=mt\n" in text and str(folder) in text for text in services)


def test_init_keeps_what_is_there(folder: Path) -> None:
    before = {path.name: path.read_text() for path in folder.iterdir()}
    (folder / "nginx.conf").write_text("ours")
    for more in ([], ["--overwrite"]):
        words = ["init", str(folder), "--host", "mt.acme.org", *more]
        subprocess.run([sys.executable, "-m", "touchstone", *words], cwd=ROOT, check=True)
        assert (folder / "touchstone.env").read_text() == before["touchstone.env"]
        assert ((folder / "nginx.conf").read_text() == "ours") == (not more)


@pytest.mark.parametrize(
    "words", [["--host", "https://mt.acme.org"], [], ["--host", "a", "--var", "var"]]
)
def test_init_refuses_what_is_no_host_or_folder(words: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "touchstone", "init", str(tmp_path / "etc"), *words]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert not (tmp_path / "etc").exists()


def test_settings_are_known_and_pass_the_checks(folder: Path, tmp_path: Path) -> None:
    named = {
        name
        for page in PAGES
        for block in re.findall(r"^```\w*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        for name in re.findall(r"^([A-Z_]+)=", block, re.MULTILINE)
    }
    own = re.findall(r"^([A-Z_]+)=", (SERVER / "touchstone.env").read_text(), re.MULTILINE)
    assert (named | {*own}) - {one.name for one in VARIABLES} == set()
    # There are no such servers.
    here = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
        "TOUCHSTONE_VAR": str(tmp_path),
        "CELERY_BROKER_URL": "filesystem://localhost//",
    }
    given = {name: value for name, value in settings_of(folder).items() if name in own}
    found = check(tmp_path, **given | here)
    ids = set(re.findall(r"\((\w+\.[EW]\d+)\)", found.stderr))
    assert ids == {"touchstone.W002", "touchstone.W003", "touchstone.E008"}, found.stderr


@pytest.fixture(scope="module")
def composed() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_containers_are_as_compose_takes_them(composed: Any) -> None:
    """The schema is that of github.com/compose-spec/compose-spec at 170098b."""
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text())
    jsonschema.Draft7Validator(schema).validate(composed)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({"services": {"web": {"read_onyl": True}}})
    services = composed["services"]
    for name, service in services.items():
        assert service.get("depends_on", {}).keys() <= services.keys(), name
        assert {*service.get("secrets", ())} <= composed["secrets"].keys(), name


def test_containers_get_every_setting_and_their_secrets_as_files(composed: Any) -> None:
    ours = [service for service in composed["services"].values() if "build" in service]
    assert len(ours) == 4
    known = {one.name for one in VARIABLES}
    for service in ours:
        assert service["read_only"]
        assert service["env_file"][0]["path"] == "touchstone.env"
        given = service["environment"]
        assert given.keys() <= known
        files = {text for name, text in given.items() if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{name}" for name in service["secrets"]}
        assert given["TRUSTED_PROXIES"] in str(composed["networks"])
    named = {Path(secret["file"]).name for secret in composed["secrets"].values()}
    written = {each for line in LINES for each in re.findall(r"> secrets/(\w+)", line)}
    assert named == written


def test_the_proxy_of_the_containers_is_that_of_a_host(composed: Any, tmp_path: Path) -> None:
    *_, command = composed["services"]["proxy"]["command"]
    script = re.sub(r"\$\{SITE_HOST[^}]*\}", "mt.acme.org", command.partition(" > ")[0])
    script = script.replace("/etc/touchstone.conf", str(SERVER / "nginx.conf"))
    run = ["sh", "-c", script]
    text = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert text.count("mt.acme.org") == 2
    assert "http://web:8000" in text
    assert "proxy_set_header X-Forwarded-Proto $scheme" in text
    for usual in ("example.org", "127.0.0.1", "/var/log"):
        assert usual not in text
    mounted = " ".join(composed["services"]["proxy"]["volumes"])
    assert "/touchstone/server/nginx.conf:/etc/touchstone.conf" in mounted
    for path in re.findall(r"ssl_certificate\w* (.*)/", text):
        assert f":{path}:ro" in mounted
