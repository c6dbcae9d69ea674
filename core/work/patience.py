"""Waiting for a database that restarts: what a worker has computed is worth the wait."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A minute in all.
DATABASE_RETRIES = (0.5, 1, 2, 4, 8, 16, 30)


def patiently(action: Callable[[], T]) -> T:
    """Do something that may be done twice, again where the database is away; at last, raise."""
    for seconds in DATABASE_RETRIES:
        try:
            return action()
        except (OperationalError, InterfaceError) as error:
            logger.warning("Database: %s Trying again in %s s.", error, seconds)
            connection.close()
            time.sleep(seconds)
    return action()
