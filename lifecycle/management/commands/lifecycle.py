"""`manage.py lifecycle VERB KIND KEY`: rename, copy, archive or delete a resource."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand
from core.commands import RefusedCommandError, refused_by
from core.text import key
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from lifecycle.resources.resource_type import counted
from metaeval.messages import message


class Command(BaseCommand):
    help = "Show, rename, copy, archive, restore or delete a resource, or set its study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "verb", choices=["show", "rename", "study", "copy", "archive", "restore", "delete"]
        )
        parser.add_argument("kind", choices=list(RESOURCE_TYPES))
        parser.add_argument("key", help="the name in addresses, or the number")
        parser.add_argument(
            "--name", default="", help="the new name; to delete judgments, the current name"
        )
        parser.add_argument(
            "--study", default="", help="the study of a campaign; without it, no study"
        )
        parser.add_argument("--reason", default="", help="the reason, recorded with the deletion")

    def handle(self, *args: Any, **options: Any) -> None:
        kind = RESOURCE_TYPES[options["kind"]]
        if kind.key == "pk" and not key(options["key"]):
            raise RefusedCommandError(
                message(
                    "command.key",
                    "{kind}: the key must be a number, not {key}.",
                    kind=kind.label,
                    key=options["key"],
                )
            )
        resource = kind.model._default_manager.filter(**{kind.key: options["key"]}).first()
        if resource is None:
            raise RefusedCommandError(
                message(
                    "command.no-resource",
                    "{kind}: there is none called {key}.",
                    kind=kind.label,
                    key=options["key"],
                )
            )
        try:
            self.stdout.write(self._do(options, kind, resource))
        except ValidationError as error:
            raise refused_by(error) from error

    def _do(self, options: dict[str, Any], kind: Any, resource: Any) -> str:
        verb, name = options["verb"], kind.called(resource)
        going = ", ".join(map(str, counted(dict(kind.going(resource))))) or "nothing else"
        if verb == "show":
            notes = filter(None, [kind.staying(resource), kind.blocks_deletion(resource)])
            return " ".join([f"{name}. Deleting it also deletes: {going}.", *map(str, notes)])
        if verb == "delete":
            services.delete(kind, resource, None, typed=options["name"], reason=options["reason"])
            return f"Deleted {name} and: {going}."
        if verb == "copy":
            made = services.copy(kind, resource, None)
            return f"Created {made.slug}, a draft with the same settings."
        if verb == "study":
            services.move(kind, resource, None, options["study"])
            return str(services.moved(resource))
        if verb == "rename":
            services.rename(kind, resource, None, options["name"])
            return f"Renamed {name} to {options['name'].strip()}."
        {"archive": services.archive, "restore": services.restore}[verb](kind, resource, None)
        return f"{verb.capitalize()}d {name}."
