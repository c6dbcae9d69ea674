"""`manage.py lifecycle VERB KIND KEY`: what pages do with a thing as a whole, from a shell."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.management.command_line import BaseCommand
from core.text import key, pluralize
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES


class Command(BaseCommand):
    help = "Look at a thing, rename it, put it into a study, copy, archive, restore or delete it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "verb", choices=["show", "rename", "study", "copy", "archive", "restore", "delete"]
        )
        parser.add_argument("kind", choices=list(RESOURCE_TYPES))
        parser.add_argument("key", help="its short name in addresses, or its number")
        parser.add_argument("--name", default="", help="the new name; or, to delete judgments, its")
        parser.add_argument(
            "--study", default="", help="the study to put a campaign into; none takes it out"
        )
        parser.add_argument("--reason", default="", help="kept with the entry of the deletion")

    def handle(self, *args: Any, **options: Any) -> None:
        kind = RESOURCE_TYPES[options["kind"]]
        if kind.key == "pk" and not key(options["key"]):
            raise CommandError(f"{kind.label}: a number is its key, not {options['key']}.")
        resource = kind.model._default_manager.filter(**{kind.key: options["key"]}).first()
        if resource is None:
            raise CommandError(f"There is no {kind.label.lower()} {options['key']}.")
        try:
            self.stdout.write(self._do(options, kind, resource))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error

    def _do(self, options: dict[str, Any], kind: Any, resource: Any) -> str:
        verb, name = options["verb"], kind.called(resource)
        going = [pluralize(n, what) for what, n in kind.going(resource) if n]
        goes = ", ".join(going) or "nothing else"
        if verb == "show":
            about = f"{kind.staying(resource)} {kind.keeps(resource)}"
            return f"{name}. With it go: {goes}. {about}".strip()
        if verb == "delete":
            services.delete(kind, resource, None, typed=options["name"], reason=options["reason"])
            return f"{name} is deleted, with: {goes}."
        if verb == "copy":
            return f"{services.copy(kind, resource, None).slug} is a draft with the same settings."
        if verb == "study":
            services.move(kind, resource, None, options["study"])
            return services.moved(resource)
        if verb == "rename":
            services.rename(kind, resource, None, options["name"])
            return f"{name} is called {options['name'].strip()}."
        {"archive": services.archive, "restore": services.restore}[verb](kind, resource, None)
        return f"{name} is {verb}d."
