"""`manage.py lifecycle VERB KIND KEY`: what pages do with a thing as a whole, from a shell."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.management.command_line import BaseCommand
from core.text import key, pluralize
from lifecycle import deeds
from lifecycle.things import KINDS


class Command(BaseCommand):
    help = "Look at a thing, rename it, put it into a study, copy, archive, restore or delete it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "verb", choices=["show", "rename", "study", "copy", "archive", "restore", "delete"]
        )
        parser.add_argument("kind", choices=list(KINDS))
        parser.add_argument("key", help="its short name in addresses, or its number")
        parser.add_argument("--name", default="", help="the new name; or, to delete judgments, its")
        parser.add_argument(
            "--study", default="", help="the study to put a campaign into; none takes it out"
        )
        parser.add_argument("--reason", default="", help="kept with the entry of the deletion")

    def handle(self, *args: Any, **options: Any) -> None:
        kind = KINDS[options["kind"]]
        if kind.key == "pk" and not key(options["key"]):
            raise CommandError(f"{kind.label}: a number is its key, not {options['key']}.")
        thing = kind.model._default_manager.filter(**{kind.key: options["key"]}).first()
        if thing is None:
            raise CommandError(f"There is no {kind.label.lower()} {options['key']}.")
        try:
            self.stdout.write(self._do(options, kind, thing))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error

    def _do(self, options: dict[str, Any], kind: Any, thing: Any) -> str:
        verb, name = options["verb"], kind.called(thing)
        goes = ", ".join(pluralize(n, what) for what, n in kind.going(thing) if n) or "nothing else"
        if verb == "show":
            return f"{name}. With it go: {goes}. {kind.staying(thing)} {kind.keeps(thing)}".strip()
        if verb == "delete":
            deeds.delete(kind, thing, None, typed=options["name"], reason=options["reason"])
            return f"{name} is deleted, with: {goes}."
        if verb == "copy":
            return f"{deeds.copy(kind, thing, None).slug} is a draft with the same settings."
        if verb == "study":
            deeds.move(kind, thing, None, options["study"])
            return deeds.moved(thing)
        if verb == "rename":
            deeds.rename(kind, thing, None, options["name"])
            return f"{name} is called {options['name'].strip()}."
        {"archive": deeds.archive, "restore": deeds.restore}[verb](kind, thing, None)
        return f"{name} is {verb}d."
