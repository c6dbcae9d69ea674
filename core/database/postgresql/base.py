"""The name of this module is the one that Django looks for in an engine."""

from datetime import datetime
from select import POLLIN, poll
from time import monotonic
from typing import Any

from django.db.backends.postgresql import base, psycopg_any

from core.database import waits

# A server that vanished silently is found by asking, after at most these seconds.
TRUSTED = 1


class TimeLoader(psycopg_any.BaseTzLoader):  # type: ignore[misc]
    """Reads times as Django does, four times as fast: exports have two in each row."""

    def load(self, data: Any) -> Any:
        """Return a time in the session's zone, in which the server writes it."""
        try:
            return datetime.fromisoformat(str(data, "ascii")).replace(tzinfo=self.timezone)
        except ValueError:  # a year of five digits, infinity
            return super().load(data)


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks once a second, not once a request; in between it looks whether the server hung up."""

    asked: tuple[Any, float] = (None, 0)

    def get_connection_params(self) -> dict[str, Any]:
        """Notice a server that vanished without closing the connection."""
        return waits.TCP | super().get_connection_params()

    def init_connection_state(self) -> None:
        """Limit waits, and plan a prepared statement (`prepared.py`) once."""
        super().init_connection_state()
        with self.connection.cursor() as cursor:
            cursor.execute(f"SET plan_cache_mode TO force_generic_plan; {waits.session_limits()}")
        loader = type("Loader", (TimeLoader,), {"timezone": self.timezone})
        self.connection.adapters.register_loader("timestamptz", loader)

    def is_usable(self) -> bool:
        """Return whether the connection still works; Django wants to know before each request."""
        driver, at = self.asked
        if driver is self.connection and monotonic() - at < TRUSTED and _is_quiet(driver):
            return True
        is_usable: bool = super().is_usable()
        self.asked = (self.connection, monotonic())
        return is_usable


def _is_quiet(driver: Any) -> bool:
    """Return whether no data waits. Without a query, data means that the server has closed it."""
    if driver is None or driver.closed:
        return False
    waiting = poll()
    waiting.register(driver.fileno(), POLLIN)
    return not waiting.poll(0)
