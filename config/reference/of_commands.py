"""What manage.py can do beside Django's own commands."""

from argparse import Action
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter

from config.reference.markdown import code, table
from core import extensions

OURS = {
    *("annotation", "metrics", "dashboards", "lifecycle", "config", "core"),
    *(each.app for each in extensions.installed()),
}


def write() -> str:
    """Return the page."""
    found = [(name, app) for name, app in get_commands().items() if app in OURS]
    parts = [_command(name, str(app)) for name, app in sorted(found)]
    return "\n\n".join(["# Commands", *parts])


def _command(name: str, app: str) -> str:
    command = load_command_class(app, name)
    actions = command.create_parser("manage.py", name)._actions
    said = f"## manage.py {name}\n\n{command.help}"
    rows = list(_arguments(actions))
    return f"{said}\n\n{table(('argument', ''), rows)}" if rows else said


def _arguments(actions: list[Action]) -> Iterator[tuple[str, str]]:
    """Yield what is not every command's."""
    for action in actions:
        options = action.option_strings
        if DjangoHelpFormatter.show_last.intersection(options) or options == ["-h", "--help"]:
            continue
        yield code(_spelt(action)), (action.help or "") % vars(action)


def _spelt(action: Action) -> str:
    named = action.option_strings[-1:] or [str(action.metavar or action.dest)]
    if action.choices is not None:
        return " ".join([*named, "|".join(map(str, action.choices))])
    if action.option_strings and action.nargs != 0:
        return f"{named[0]} {action.metavar or action.dest.upper()}"
    return named[0]
