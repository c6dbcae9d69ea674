"""The command `touchstone`, and what it needs to set up a host.

In the wheel this is the only top-level name: the folders of the repository lie in `touchstone/app`,
which is put on the path at start, before everything that is installed.
"""

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
IS_INSTALLED = (_PACKAGE / "app").is_dir()
# The folder with `manage.py`, `annotation`, `templates` …
HOME = _PACKAGE / "app" if IS_INSTALLED else _PACKAGE.parent


def put_on_path() -> None:
    """Put the folders of the app before everything else that Python can import."""
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
