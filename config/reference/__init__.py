"""The generated half of the documentation: docs/reference, from the code.

`manage.py docs` writes them; a test fails where one is not what the code says.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
# Each page with the module that writes it.
PAGES = {
    "api": "site",
    "columns": "data",
    "commands": "site",
    "datasets": "data",
    "formats": "data",
    "glossary": "data",
    "metrics": "measures",
    "pages": "site",
    "settings": "site",
    "statistics": "measures",
    "tree": "site",
}
NOTE = "Written by `manage.py docs`; change the code that it comes from."


def written() -> Iterator[tuple[Path, str]]:
    """Yield every page with its text."""
    for name, module in PAGES.items():
        write: Callable[[], str] = getattr(
            import_module(f"config.reference.{module}"), f"{name}_page"
        )
        title, _, rest = write().partition("\n")
        yield FOLDER / f"{name}.md", f"{title}\n\n{NOTE}\n{rest.rstrip()}\n"
