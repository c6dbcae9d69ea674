"""`touchstone serve`: the web server of a site."""

import os
import sys
import tempfile
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.db import connections

from annotation.management.command_line import BaseCommand
from config.checks import mark_folder, other_folder_errors
from core.commands import NOT_MIGRATED, RefusedCommandError, is_migrated
from metaeval.messages import message


class Command(BaseCommand):
    help = "Start the web server (gunicorn); collects the files of the pages if they changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=2, help="processes")
        parser.add_argument("--threads", type=int, default=4, help="threads of each process")

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_migrated():
            raise RefusedCommandError(NOT_MIGRATED)
        mark_folder()
        if errors := other_folder_errors():
            raise RefusedCommandError(
                message(
                    "command.other-folder", "{error} {hint}", error=errors[0].msg,
                    hint=str(errors[0].hint),
                )
            )  # fmt: skip
        if not getattr(staticfiles_storage, "is_current", lambda: True)():
            call_command("collectstatic", interactive=False, verbosity=0)
        if settings.PROMETHEUS_TOKEN and not settings.PROMETHEUS_FOLDER:
            # Of this start alone: counters begin at 0, as those who read them expect.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="touchstone-")
        connections.close_all()
        command = [sys.executable, "-m", "gunicorn", "config.wsgi"]
        command += ["--bind", f"{options['host']}:{options['port']}"]
        command += ["--workers", str(options["workers"]), "--threads", str(options["threads"])]
        # It would be in the home folder, which may be read-only.
        command.append("--no-control-socket")
        # The folder of the code is where gunicorn looks for `config`.
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, command)  # noqa: S606
