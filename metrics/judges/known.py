"""Endpoints and templates made known to the families, which read neither settings nor rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from metrics.families.judges import desk, prompts
from metrics.judges import endpoints, templates


@contextmanager
def known() -> Iterator[None]:
    """Descriptions and scorers of judges find what is declared and stored here."""
    asked_endpoint = desk.find_endpoint.set(endpoints.get)
    asked_template = prompts.find.set(templates.get)
    try:
        yield
    finally:
        prompts.find.reset(asked_template)
        desk.find_endpoint.reset(asked_endpoint)
