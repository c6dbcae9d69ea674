"""`touchstone`: the demo, a site's web server and workers, and everything that `manage.py` does.

Folders in the environment are made absolute, because servers and workers run in the folder of the
code. An installed Touchstone without settings works with the demo's folder only if there is a demo.
"""

import os
import re
import secrets
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from touchstone import HOME, IS_INSTALLED, put_on_path

# `touchstone init DIR`: the settings, services and nginx configuration of a host.

TEMPLATES = Path(__file__).parent / "server"
SETTINGS = "touchstone.env"
# The settings have the key, and the script runs.
MODES = {SETTINGS: 0o600, "touchstone": 0o755}
NEXT = """
Next, as root ({folder}/touchstone runs every command with these settings):
  1. Check {folder}/{settings}: database, broker, mail server.
  2. {folder}/touchstone migrate
     {folder}/touchstone createsuperuser
  3. cp {folder}/*.service {folder}/*.timer /etc/systemd/system/
     systemctl daemon-reload
     systemctl enable --now touchstone-web touchstone-worker
     systemctl enable --now touchstone-release_claims.timer touchstone-clearsessions.timer
     systemctl enable --now touchstone-personal_data.timer
  4. Put {folder}/nginx.conf where nginx reads it, with your certificate, and reload nginx.
  5. {folder}/touchstone check --deploy names what is missing.
"""


def init(arguments: Sequence[str]) -> int:
    """Write the files that are not there yet; return the exit status."""
    options = _parser().parse_args(arguments)
    folder = Path(options.folder).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for template in sorted(TEMPLATES.iterdir()):
            path = folder / template.name
            is_kept = path.exists() and (not options.overwrite or path.name == SETTINGS)
            if not is_kept:
                text = _filled(template.read_text(encoding="utf-8"), options, folder)
                _write(path, text, MODES.get(path.name, 0o644))
            print(f"{'Kept' if is_kept else 'Wrote'} {path}")
    except OSError as error:
        print(f"touchstone init: {error}", file=sys.stderr)
        return 1
    print(NEXT.format(folder=folder, settings=SETTINGS))
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="touchstone init",
        description="Write settings, services and nginx configuration of a host into a folder. "
        "Files that are there are kept.",
    )
    parser.add_argument("folder", metavar="DIR", help="such as /etc/touchstone")
    parser.add_argument("--host", required=True, type=_host, help="such as mt.example.org")
    parser.add_argument("--user", default="touchstone", type=_name, help="user of the services")
    parser.add_argument("--var", default="/var/lib/touchstone", type=_path, help="folder of files")
    parser.add_argument("--database", default="", metavar="URL", help="DATABASE_URL")
    parser.add_argument("--broker", default="", metavar="URL", help="CELERY_BROKER_URL")
    parser.add_argument(
        "--overwrite", action="store_true", help=f"write all files anew, except {SETTINGS}"
    )
    return parser


def _host(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", value):
        raise ValueError
    return value


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z_][a-z0-9_-]*", value):
        raise ValueError
    return value


def _path(value: str) -> str:
    if not re.fullmatch(r"/[\w./-]+", value):
        raise ValueError
    return value.rstrip("/")


def _filled(text: str, options: Namespace, folder: Path) -> str:
    """Return a template with the values of this host in place of the usual ones."""
    for name, value in (
        ("SECRET_KEY", secrets.token_hex(32)),
        ("DATABASE_URL", options.database),
        ("CELERY_BROKER_URL", options.broker),
    ):
        if value:
            line = f"{name}={shlex.quote(value)}".replace("\\", r"\\")
            text = re.sub(rf"^{name}=.*$", line, text, flags=re.MULTILINE)
    for usual, here in (
        ("/etc/touchstone/", f"{folder}/"),
        ("/opt/touchstone/bin/touchstone", _command()),
        ("/var/lib/touchstone", options.var),
        ("User=touchstone", f"User={options.user}"),
        ("runuser -u touchstone", f"runuser -u {options.user}"),
        ("mt.example.org", options.host),
    ):
        text = text.replace(usual, here)
    return text


def _command() -> str:
    """Return the command line of this installation."""
    program = Path(sys.argv[0]).absolute()
    if program.name == "touchstone":
        return str(program)
    return f"{sys.executable} -m touchstone"


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file that never has other permissions than `mode`."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)
    path.chmod(mode)


USAGE = """Touchstone {version}

touchstone demo                  the app with its demo, until Ctrl-C
touchstone open campaign.json    open a campaign from one file, and print its links
touchstone init DIR              write settings, services and nginx configuration of a host
touchstone serve                 the web server
touchstone worker                everything that can be computed here
touchstone backup FILE           save database, files and keys while people work
touchstone restore FILE          restore them into an empty site
touchstone manage COMMAND …      every other command, also without `manage`; without a name, a list
touchstone --version
"""
FOLDERS = tuple(
    f"TOUCHSTONE_{name}" for name in ("VAR", "DATA", "MODELS", "TRAINED", "MEDIA", "STATIC")
)


def main() -> None:
    """Run a command."""
    put_on_path()
    command, *rest = sys.argv[1:] or ["help"]
    if command in ("help", "-h", "--help"):
        print(USAGE.format(version=_version()))
    elif command in ("version", "--version"):
        print(_version())
    elif command == "init":
        sys.exit(init(rest))
    elif command == "manage":
        _manage(rest)
    else:
        _manage([command, *rest])


def _version() -> str:
    from metaeval import __version__

    return __version__


def _manage(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    _choose_folder(arguments[0] if arguments else "help")
    for name in FOLDERS:
        if os.environ.get(name):
            os.environ[name] = os.path.abspath(os.environ[name])
    from django.core.exceptions import ImproperlyConfigured

    try:
        from core.commands import run

        run([str(HOME / "manage.py"), *arguments])
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def _choose_folder(command: str) -> None:
    """Use the demo's folder where nothing else is set; exit if there is no demo yet."""
    if not IS_INSTALLED or os.environ.get("TOUCHSTONE_VAR"):
        return
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(data) / "touchstone"
    is_there = (folder / "touchstone.sqlite3").exists()
    if command in ("demo", "help") or (is_there and not os.environ.get("DATABASE_URL")):
        os.environ["TOUCHSTONE_VAR"] = str(folder)
    else:
        sys.exit(
            "TOUCHSTONE_VAR is not set: it names the folder of files, and of the database if "
            "DATABASE_URL is not set.\n"
            f"`touchstone demo` starts a demo in {folder}; `touchstone init` sets up a site."
        )
