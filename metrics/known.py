"""What settings, rows and workers know, made known to descriptions, which read none of them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from metrics import plugins
from metrics.families.judges import desk, prompts
from metrics.judges import endpoints, templates
from metrics.models.fleet import layers_on_workers, living
from metrics.options import layers_elsewhere
from metrics.plugins import Found

T = TypeVar("T")


@contextmanager
def _saying(variable: ContextVar[T], value: T) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


@contextmanager
def judges_known() -> Iterator[None]:
    """Descriptions and scorers of judges find what is declared and stored here."""
    with _saying(desk.find_endpoint, endpoints.get), _saying(prompts.find, templates.get):
        yield


@contextmanager
def everything_known() -> Iterator[None]:
    """So do those of checkpoints and plug-ins that only workers have."""
    with ExitStack() as stack:
        stack.enter_context(judges_known())
        stack.enter_context(_saying(layers_elsewhere, layers_on_workers))
        stack.enter_context(_saying(plugins.elsewhere, plugins_on_workers))
        yield


def plugins_on_workers() -> dict[str, Found]:
    """Return the plug-ins that living workers report, those that work before those that do not."""
    found: dict[str, Found] = {}
    for row in living():
        for data in row.plugins:
            each = plugins.from_data(data)
            if each.plugin is not None or each.key not in found:
                found[each.key] = each
    return found
