"""Sessions, and the accounts of people who came by a link: every request reads both.

The statements are put together once in a process. Each sign-in is a line of the log.
"""

import logging
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from annotation.access import only_rates
from annotation.entry.throttle import network_address
from annotation.models import SignIn
from core.database.prepared import Prepared, placeholder_key

logger = logging.getLogger(__name__)
BY_LINK = "annotation.entry.accounts.LinkBackend"
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


def may_replace(request: HttpRequest, user: User | None) -> bool:
    """Return whether a link may sign `user` in without asking whoever uses the browser.

    It may if nobody is signed in, if it is the same person, and after another link: such sessions
    can do nothing but rate. It may not replace a session that began with a password.
    """
    present = request.user
    if not present.is_authenticated or present == user:
        return True
    return request.session.get(BACKEND_SESSION_KEY) == BY_LINK and only_rates(present)


class _Bytes:
    """A serializer that leaves what was signed as it is."""

    def loads(self, data: bytes) -> bytes:
        """Return the same."""
        return data


@lru_cache(maxsize=1024)
def _signed(session_data: Any, salt: str) -> bytes:
    """Return the content of a session; raises BadSignature and ValueError if it was changed."""
    serializer: Any = _Bytes
    content: bytes = signing.loads(session_data, salt=salt, serializer=serializer)
    return content


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django's."""

    @classmethod
    def clear_expired(cls) -> None:
        """Delete sessions that have expired, and the rows of sign-ins that are over."""
        super().clear_expired()
        oldest = timezone.now() - timedelta(days=settings.SESSION_DAYS)
        SignIn.objects.filter(created_at__lte=oldest).delete()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return what a session holds; the signature of the same text is checked once."""
        try:
            content = _signed(session_data, self.key_salt)
        except Exception:  # Django logs it, and answers with an empty session.
            content = b""
        return dict(self.serializer().loads(content) if content else super().decode(session_data))

    def _get_session_from_db(self) -> Any:
        row = next(iter(_session.rows({SESSION: self.session_key})), None)
        if row is not None and row.expire_date > timezone.now():
            return row
        self._session_key = None
        return None

    @classmethod
    def get_model_class(cls) -> Any:
        return Session


@receiver(user_logged_in, dispatch_uid="annotation.entry.accounts.signed_in")
def _log_sign_in(request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    if request is not None and "REMOTE_ADDR" in request.META:  # not of the demo itself
        logger.info("Account %d signed in from %s", user.pk, network_address(request))


@receiver(user_login_failed, dispatch_uid="annotation.entry.accounts.refused")
def _log_refused_sign_in(request: HttpRequest | None = None, **kwargs: Any) -> None:
    """Without the name that was tried: people type passwords there."""
    if request is not None:
        logger.warning("A sign-in from %s was refused", network_address(request))
