"""The installation in docs/deployment.md: its commands, files, services and settings are there."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from config.reference.variables import VARIABLES
from tests.config.test_checks import check

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "docs" / "server"
PAGES = [(ROOT / "docs" / name).read_text() for name in ("deployment.md", "workers.md")]
BLOCKS = [block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)]
LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]
UNITS = {path.name: path.read_text() for path in SERVER.glob("touchstone*.*")}


def test_commands_of_manage_py_take_their_options() -> None:
    commands = [shlex.split(line)[1:] for line in LINES if line.startswith("touchstone ")]
    commands += [[name] for name in re.findall(r"^Unit=touchstone@(.+)\.service$", timers(), re.M)]
    assert len(commands) >= 6
    for name, *options in commands:
        command = load_command_class(get_commands()[name], name)
        command.create_parser("touchstone", name).parse_args(options)


def timers() -> str:
    return "\n".join(text for name, text in UNITS.items() if name.endswith(".timer"))


def test_files_are_there() -> None:
    named = {path for line in LINES for path in re.findall(r"(?:docs|requirements)[/.][^ ]+", line)}
    assert {"docs/server/nginx.conf", "requirements/web.txt"} <= named
    assert [path for path in sorted(named) if not list(ROOT.glob(path))] == []


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
    assert {name for name in UNITS if "@" not in name} - started == {"touchstone-judges.service"}


def test_every_queue_has_one_service() -> None:
    queues = re.findall(r" -Q (\S+)", "\n".join(UNITS.values()))
    assert sorted(",".join(queues).split(",")) == sorted(settings.WORK_QUEUES)


@pytest.fixture
def settings_of_the_guide(tmp_path: Path) -> dict[str, str]:
    """The file that the guide writes, as services get it."""
    [block] = [block for block in BLOCKS if "cat > /etc/touchstone.env" in block]
    file = tmp_path / "touchstone.env"
    subprocess.run(
        ["bash", "-e"], input=block.replace(f"/etc/{file.name}", str(file)), text=True, check=True
    )
    assert file.stat().st_mode & 0o777 == 0o600
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def test_settings_are_known_and_pass_the_checks(
    settings_of_the_guide: dict[str, str], tmp_path: Path
) -> None:
    named = {
        name
        for page in PAGES
        for block in re.findall(r"^```\w*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        for name in re.findall(r"^([A-Z_]+)=", block, re.MULTILINE)
    }
    assert len(named) > 5
    assert (settings_of_the_guide.keys() | named) - {one.name for one in VARIABLES} == set()
    # There is no such server.
    here = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "TOUCHSTONE_VAR": str(tmp_path)}
    found = check(tmp_path, **settings_of_the_guide | here)
    assert found.returncode == 0, found.stderr
    assert "touchstone." not in found.stderr
