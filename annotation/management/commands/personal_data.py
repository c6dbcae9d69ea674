"""`manage.py personal_data`: export or erase one person, and delete data whose time is over."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from annotation.accounts import managing, personal, retention
from annotation.management.command_line import BaseCommand
from annotation.models import Annotator
from core.commands import RefusedCommandError, refused_by
from metaeval.messages import message

NO_ADMIN = message("command.no-admin", "Name the site admin with --by.")
NO_OUTPUT = message("command.no-output", "Name the file with --output.")


class Command(BaseCommand):
    help = (
        "Without options, delete e-mail addresses, platform ids and background answers of closed "
        "campaigns whose rule says so; a timer runs it daily. With --export or --erase, act on one "
        "account in the name of a site admin; with --campaign on one imported annotator by label."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--export", metavar="USER", help="write all rows about a person")
        chosen.add_argument("--erase", metavar="USER", help="erase the personal data of a person")
        parser.add_argument("--campaign", metavar="SLUG", help="of an imported annotator")
        parser.add_argument("--output", type=Path, help="a file for --export, as JSON Lines")
        parser.add_argument("--by", metavar="USER", help="the site admin who does it")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["export"] or options["erase"]):
            for campaign, counts in retention.forget_due(timezone.now()):
                done = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.items())
                self.stdout.write(f"{campaign.slug}: {done} deleted")
            return
        if not options["by"]:
            raise RefusedCommandError(NO_ADMIN)
        actor, name = _account(options["by"]), options["export"] or options["erase"]
        person = _imported(options["campaign"], name) if options["campaign"] else _account(name)
        if options["erase"]:
            self._erase(actor, person)
        elif options["output"] is None:
            raise RefusedCommandError(NO_OUTPUT)
        else:
            self._export(actor, person, options["output"])

    def _erase(self, actor: User, person: User | Annotator) -> None:
        name = str(person)
        try:
            kept, removed = (
                personal.erase(actor=actor, user=person)
                if isinstance(person, User)
                else personal.erase_imported(actor=actor, annotator=person)
            )
        except ValidationError as error:
            raise refused_by(error) from error
        except PermissionDenied as error:
            raise RefusedCommandError(error.args[0]) from error
        self.stdout.write(f"{name}: {kept} judgments kept, {removed} removed")

    def _export(self, actor: User, person: User | Annotator, path: Path) -> None:
        if isinstance(person, User):
            managing.note(actor, person, managing.Action.EXPORTED)
            rows = personal.rows_about(person)
        else:
            personal.note_export(actor, person)
            rows = personal.rows_about_imported(person)
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                line = json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
                file.write(f"{line}\n")
        self.stdout.write(f"{path} written")


def _imported(slug: str, label: str) -> Annotator:
    rows = Annotator.objects.select_related("campaign__data_rule")
    found = rows.filter(campaign__slug=slug, label=label).first()
    if found is None:
        raise RefusedCommandError(
            message(
                "command.no-annotator",
                "The campaign {campaign} has no annotator {label}.",
                campaign=slug,
                label=label,
            )
        )
    return found


def _account(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise RefusedCommandError(
            message("command.no-account", "There is no account {name}.", name=name)
        )
    return user
