"""`manage.py glossary`: docs/glossary.md from the terms that pages show."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation.glossary import as_markdown


class Command(BaseCommand):
    help = "Print docs/glossary.md."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(as_markdown(), ending="")
