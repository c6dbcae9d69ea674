"""`touchstone migrate`: annotators wait no longer than a moment behind a change of tables.

PostgreSQL queues everybody behind a statement that waits for a lock, such as that of a long export.
"""

import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connection

from core.database.waits import is_lock_timeout, limit_lock_waits
from metaeval.repeats import refuse_repeats

LOCK_MS = 1_000
# How often to try, and the pause in seconds in which others go on: ten minutes in all.
TRIES, PAUSE = 100, 5


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        refuse_repeats(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        for turn in range(1, TRIES + 1):
            limit_lock_waits(LOCK_MS)
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if not is_lock_timeout(error) or turn == TRIES:
                    raise
                connection.close()
            else:
                return limit_lock_waits(settings.DATABASE_LOCK_SECONDS * 1000)
            self.stderr.write(f"A long job uses a table. Trying again in {PAUSE} s.")
            time.sleep(PAUSE)
