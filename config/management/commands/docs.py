"""`manage.py docs`: the generated pages of docs/reference."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.command_line import BaseCommand
from config.reference import written
from core.commands import RefusedCommandError
from metaeval.messages import message


class Command(BaseCommand):
    help = "Write docs/reference from the code."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="only list pages that are not up to date"
        )

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        stale = [
            (path, text)
            for path, text in written()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        if check and stale:
            raise RefusedCommandError(
                message(
                    "command.stale-docs",
                    "These pages are not up to date: {names}. Run manage.py docs.",
                    names=[path.name for path, _ in stale],
                )
            )
        for path, text in stale:
            path.write_text(text, encoding="utf-8")
            self.stdout.write(f"docs/reference/{path.name}")
