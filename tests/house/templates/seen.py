"""Markup as a browser shows it, for tests that look for a part of a page."""

import re

from tests.house.templates.layout import BLOCKS

EDGE = re.compile(rf" ?(</?(?:{BLOCKS.pattern})\b[^>]*>) ?")


def seen(markup: str) -> str:
    """Return markup with one blank where there are several, and none beside blocks."""
    return EDGE.sub(r"\1", " ".join(markup.split()))
