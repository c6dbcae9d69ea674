"""The wheels, built and installed in an environment that has no package but their requirements."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import venv
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from metaeval import __version__
from tests.config.test_nginx import free_port
from tests.shared import once_a_run

ROOT = Path(__file__).parents[2]
OFFLINE = ("--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")
DEADLINE = 120


def install(folder: Path, source: str) -> Path:
    """Return the site-packages of a new environment with what is built from a folder."""
    pip = [sys.executable, "-m", "pip"]
    build = [*pip, "wheel", *OFFLINE, "--no-build-isolation", source, "-w", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", symlinks=True)
    python = str(folder / "venv" / "bin" / "python")
    subprocess.run([*pip, "--python", python, "install", *OFFLINE, str(wheel)], check=True)
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    return site


def names(site: Path) -> set[str]:
    return {path.name for path in site.iterdir() if path.suffix != ".dist-info"}


def add_requirements(site: Path) -> None:
    """What the wheel requires is there, as if it had been installed beside it."""
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib"))


class Installed:
    """`touchstone` in a folder where other modules have names of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = str(folder / "venv" / "bin" / "touchstone")
        (folder / "config").mkdir(exist_ok=True)
        (folder / "config" / "__init__.py").write_text("raise ImportError('another config')")

    def environment(self, **variables: str) -> dict[str, str]:
        """Nothing of this run's settings, and a home of its own."""
        own = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
        own |= {name: value for name, value in os.environ.items() if name == "TOUCHSTONE_RUN"}
        return own | {"HOME": str(self.folder), "OMP_NUM_THREADS": "1"} | variables

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words],
            cwd=self.folder, env=self.environment(**variables),
            capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def installed(run_folder: Path) -> Installed:
    def build(folder: Path) -> None:
        site = install(folder, ".")
        assert names(site) == {"touchstone"}
        add_requirements(site)

    once_a_run(run_folder / "wheel", build)
    return Installed(run_folder / "wheel")


def test_one_version_is_released() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert f"\n## {__version__} (" in changes
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    client = (ROOT / "client" / "pyproject.toml").read_text()
    assert f'\nversion = "{__version__}"\n' in client


def test_the_wheel_says_its_version_and_its_requirements(installed: Installed) -> None:
    assert installed.run("--version").stdout.strip() == __version__
    [info] = (installed.folder / "venv" / "lib").glob("python*/site-packages/*.dist-info")
    found = Distribution.at(info)
    assert found.version == __version__
    lines = (ROOT / "requirements" / "web.txt").read_text().splitlines()
    pins = {line.lower() for line in lines if line[:1].isalpha()}
    plain = {each.lower() for each in found.requires or () if "extra" not in each}
    assert plain == pins
    assert set(found.metadata.get_all("Provides-Extra")) == {
        "otel", "postgres", "s3", "sentry", "sso", "worker",
    }  # fmt: skip


def test_commands_run_from_any_folder(installed: Installed, tmp_path: Path) -> None:
    checked = installed.run("manage", "check", TOUCHSTONE_VAR=str(tmp_path))
    assert checked.returncode == 0, checked.stderr
    assert "no issues" in checked.stdout
    unknown = installed.run("nonsense", TOUCHSTONE_VAR=str(tmp_path))
    assert unknown.returncode == 1
    assert "nonsense" in unknown.stderr


@pytest.mark.parametrize("words", [("manage", "migrate"), ("serve",), ("open", "x.json")])
def test_nothing_is_made_where_no_folder_is_chosen(
    installed: Installed, words: tuple[str, ...], tmp_path: Path
) -> None:
    refused = installed.run(*words, HOME=str(tmp_path))
    assert refused.returncode == 1
    assert "TOUCHSTONE_VAR" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("manage", "migrate"), ("backup", "site.tar.gz"), ("worker",)])
@pytest.mark.parametrize(
    ("name", "value"), [("DATABASE_URL", "postgres://db/mt"), ("HTTPS", "?"), ("SITE_URL", "mt")]
)
def test_a_wrong_setting_is_one_line(
    installed: Installed, tmp_path: Path, words: tuple[str, ...], name: str, value: str
) -> None:
    refused = installed.run(*words, TOUCHSTONE_VAR=str(tmp_path), **{name: value})
    assert refused.returncode == 1
    [line] = refused.stderr.splitlines()
    assert name in line


def test_the_demo_runs_from_the_wheel(installed: Installed, migrated: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "touchstone"
    folder.mkdir(parents=True)
    shutil.copy(migrated, folder / "touchstone.sqlite3")
    port = free_port()
    demo = subprocess.Popen(
        [installed.command, "demo", "--port", str(port)],
        cwd=installed.folder, env=installed.environment(HOME=str(tmp_path)),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        page = first_page(demo, f"http://127.0.0.1:{port}/login/")
        assert 'name="password"' in page
        [style] = [part for part in page.split('"') if "css/base." in part]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{style}") as answer:
            assert answer.status == 200
    finally:
        demo.send_signal(signal.SIGTERM)
        _, stderr = demo.communicate()
    assert demo.returncode == 0, stderr


def first_page(server: subprocess.Popen[str], address: str) -> str:
    """Return the page once the server answers."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own server
                return str(answer.read().decode())
        except urllib.error.URLError:
            time.sleep(0.2)
    server.kill()
    pytest.fail(f"No answer: {server.communicate()}")


def test_metaeval_is_a_wheel_of_its_own(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "metaeval", tmp_path / "source")
    site = install(tmp_path, str(tmp_path / "source"))
    assert names(site) == {"metaeval"}
    add_requirements(site)
    python = str(tmp_path / "venv" / "bin" / "python")
    run = [python, "-m", "metaeval", "--help"]
    shown = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    code = "import metaeval; print(metaeval.__version__, metaeval.__file__)"
    told = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert told.stdout.split() == [__version__, str(site / "metaeval" / "__init__.py")]
