"""Variables of the environment."""

from config.reference.markdown import code, table
from config.reference.variables import VARIABLES


def write() -> str:
    """Return the page."""
    rows = [(code(v.name), _shown(v.default), v.meaning) for v in VARIABLES]
    return "# Settings\n\n" + table(("variable", "default", "meaning"), rows)


def _shown(default: str) -> str:
    return default if "`" in default else code(default)
