"""The generated half of the documentation: docs/reference, one page a module, from the code.

`manage.py docs` writes them; a test fails where one is not what the code says.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = (
    "api",
    "columns",
    "commands",
    "datasets",
    "formats",
    "glossary",
    "metrics",
    "pages",
    "settings",
    "statistics",
    "tree",
)
NOTE = "Written by `manage.py docs`; change the code that it comes from."


def written() -> Iterator[tuple[Path, str]]:
    """Yield every page with its text."""
    for name in PAGES:
        write: Callable[[], str] = import_module(f"config.reference.of_{name}").write
        title, _, rest = write().partition("\n")
        yield FOLDER / f"{name}.md", f"{title}\n\n{NOTE}\n{rest.rstrip()}\n"
