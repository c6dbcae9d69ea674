"""How long the database may keep somebody waiting: for a lock, and for a host that fell silent.

Each connection to PostgreSQL has limits, `DATABASE_LOCK_SECONDS` and `DATABASE_IDLE_SECONDS`.
SQLite has one of its own for all writers.
"""

from django.conf import settings
from django.db import connection

# Hosts that vanish without closing their connections are noticed within half a minute.
TCP = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}
LOCK_NOT_AVAILABLE = "55P03"


def session_limits() -> str:
    """Return the statements that set the limits of a new connection to PostgreSQL."""
    limits = {
        "lock_timeout": f"{settings.DATABASE_LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{settings.DATABASE_IDLE_SECONDS}s",
        # The server's side of `TCP`; without effect on a Unix socket.
        **{f"tcp_{name}": str(TCP[name]) for name in ("keepalives_idle", "keepalives_interval")},
        "tcp_keepalives_count": str(TCP["keepalives_count"]),
        "tcp_user_timeout": str(TCP["tcp_user_timeout"]),
    }
    return "; ".join(f"SET {name} TO '{value}'" for name, value in limits.items())


def limit_lock_waits(milliseconds: int) -> None:
    """Limit how long this thread's statements wait for a lock; then OperationalError."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout TO {int(milliseconds)}")


def is_lock_timeout(error: BaseException) -> bool:
    """Return True if somebody else held a lock for too long."""
    return getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE
