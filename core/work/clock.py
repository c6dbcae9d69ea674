"""The database's own time, so that the clocks of several hosts need not agree."""

from typing import Any

from django.db.models import functions


class Now(functions.Now):
    """The time of the statement, written as stored times are.

    SQLite compares times as text. Django's own `Now` has three decimals there and its datetimes
    have six, so that within one millisecond the earlier of two could count as the later.
    """

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Add the decimals that SQLite's clock does not have."""
        template = "STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f000', 'NOW')"
        return self.as_sql(compiler, connection, template=template, **context)
