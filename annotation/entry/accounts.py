"""Sessions, and the accounts of people who came by a link: every request reads both.

The statements are put together once in a process.
"""

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.database.prepared import Prepared, placeholder_key

USER = placeholder_key(1)
SESSION = "placeholder for a key"

_session = Prepared(lambda: Session.objects.filter(session_key=SESSION))
_account = Prepared(lambda: User.objects.filter(pk=USER))


class LinkBackend(BaseBackend):
    """Knows whoever signed in by a link, on every request; it checks no password."""

    def get_user(self, user_id: int) -> User | None:
        """Return the account unless it is deactivated."""
        user = next(iter(_account.rows({USER: user_id})), None)
        return user if user is not None and user.is_active else None


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django's."""

    def _get_session_from_db(self) -> Any:
        row = next(iter(_session.rows({SESSION: self.session_key})), None)
        if row is not None and row.expire_date > timezone.now():
            return row
        self._session_key = None
        return None

    @classmethod
    def get_model_class(cls) -> Any:
        return Session
