"""`touchstone`: the demo, a site's web server and workers, and everything that `manage.py` does.

Folders in the environment are made absolute, because servers and workers run in the folder of the
code. An installed Touchstone without settings works with the demo's folder only if there is a demo.
"""

import os
import sys
from pathlib import Path

from touchstone import HOME, IS_INSTALLED, put_on_path
from touchstone.host import init

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
    from django.core.management import execute_from_command_line

    execute_from_command_line([str(HOME / "manage.py"), *arguments])


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
