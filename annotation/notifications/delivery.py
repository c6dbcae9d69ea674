"""One e-mail or one webhook, delivered or refused; whether another try helps is in the error.

An admin chooses the address of a webhook, and the server calls it from inside its network. So
only public addresses are called, and exactly the one that was checked: the name is not resolved
a second time, no redirect is followed, and no proxy is asked.
"""

import hashlib
import hmac
import socket
import ssl
import unicodedata
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection, send_mail
from django.utils.crypto import salted_hmac

from annotation.web.addresses import is_public

SIGNATURE = "X-Touchstone-Signature"
# Answers of a server that will answer otherwise later.
PASSING = {408, 425, 429}
# Control and format characters, and every kind of blank.
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


class DeliveryError(Exception):
    """Not delivered, and trying again does not help."""


class TemporaryError(DeliveryError):
    """Not delivered; trying again may help."""


class UnsureError(DeliveryError):
    """Handed over, and no answer came: it may arrive or not."""


def secret_of(slug: str) -> str:
    """Return the secret that signs the webhooks of a campaign."""
    return salted_hmac("annotation.webhook", slug, algorithm="sha256").hexdigest()


def signature(secret: str, body: bytes) -> str:
    """Return the signature header of a body: `sha256=` and the HMAC in hexadecimal."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def check_url(url: str) -> SplitResult:
    """Return the parts of an address that may be called, as far as it can be told from the text.

    Raises DeliveryError with a sentence.
    """
    # urlsplit drops some of them in silence: what was checked would not be what was typed.
    if any(unicodedata.category(character) in UNSEEN for character in url):
        raise DeliveryError("The address of a webhook may not hold blanks or control characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise DeliveryError("This is no web address.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise DeliveryError("A webhook needs an address that begins with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise DeliveryError("The address of a webhook may not hold a user name or password.")
    return parts


def post(url: str, body: bytes, *, secret: str) -> None:
    """Send a signed JSON body; anything but a 2xx answer raises DeliveryError."""
    parts = check_url(url)
    connection = _connection(parts, _public_address(parts))
    # The timeout holds for each packet; a server that drips them is cut off by the clock.
    watchdog = Timer(3 * settings.WEBHOOK_TIMEOUT_SECONDS, connection.cut)
    watchdog.daemon = True
    watchdog.start()
    try:
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Touchstone",
            SIGNATURE: signature(secret, body),
        }
        connection.request("POST", path, body=body, headers=headers)
        status = connection.getresponse().status
    except ssl.SSLCertVerificationError as error:
        raise DeliveryError(f"The certificate is refused: {error.verify_message}.") from error
    except (OSError, HTTPException) as error:
        raise TemporaryError(f"No answer: {type(error).__name__}.") from error
    except ValueError as error:
        raise DeliveryError("This is no web address.") from error
    finally:
        watchdog.cancel()
        connection.close()
    _judge(status)


def _judge(status: int) -> None:
    if 200 <= status < 300:
        return
    if status in PASSING or status >= 500:
        raise TemporaryError(f"The server answered {status}.")
    if 300 <= status < 400:
        raise DeliveryError(f"The server answered {status}; redirects are not followed.")
    raise DeliveryError(f"The server answered {status}.")


def _public_address(parts: SplitResult) -> str:
    """Resolve the host, and refuse it if any of its addresses is not public."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TemporaryError(f"The host {parts.hostname} has no address.") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.WEBHOOK_ALLOW_PRIVATE and not all(map(is_public, addresses)):
        raise DeliveryError(
            f"The host {parts.hostname} is in a private network. "
            "Set WEBHOOK_ALLOW_PRIVATE to allow that."
        )
    return addresses[0]


class _Pinned(HTTPConnection):
    """A connection to one address, whatever the name means by now."""

    def __init__(self, host: str, port: int | None, address: str, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self.address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)

    def cut(self) -> None:
        """End the connection from another thread."""
        if self.sock is not None:
            self.sock.shutdown(socket.SHUT_RDWR)


class _PinnedTLS(_Pinned):
    default_port = HTTPSConnection.default_port

    def connect(self) -> None:
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)


def _connection(parts: SplitResult, address: str) -> _Pinned:
    kind = _PinnedTLS if parts.scheme == "https" else _Pinned
    return kind(parts.hostname or "", parts.port, address, settings.WEBHOOK_TIMEOUT_SECONDS)


def mail(subject: str, text: str, recipients: Sequence[str]) -> None:
    """Send an e-mail; raises DeliveryError."""
    try:
        send_mail(subject, text, None, list(recipients))
    except (OSError, SMTPException) as error:
        raise _refusal(error) or TemporaryError(_silent(error)) from error


def mail_server() -> Any:
    """Return an open connection to the mail server; raises DeliveryError."""
    server = get_connection()
    try:
        server.open()
    except (OSError, SMTPException) as error:
        raise _refusal(error) or TemporaryError(_silent(error)) from error
    return server


def hand_over(server: Any, subject: str, text: str, address: str) -> None:
    """Send an e-mail once; raises DeliveryError, UnsureError where the server fell silent."""
    try:
        EmailMessage(subject, text, None, [address], connection=server).send()
    except (OSError, SMTPException) as error:
        raise _refusal(error) or UnsureError(_silent(error)) from error


def _refusal(error: Exception) -> DeliveryError | None:
    """What an answer of the mail server means; None where there was none."""
    if isinstance(error, SMTPRecipientsRefused):
        codes = {code for code, _ in error.recipients.values()}
        kind = TemporaryError if any(code < 500 for code in codes) else DeliveryError
        return kind("The mail server refused the recipient.")
    if isinstance(error, SMTPResponseException):
        kind = DeliveryError if error.smtp_code >= 500 else TemporaryError
        return kind(f"The mail server answered {error.smtp_code}.")
    return None


def _silent(error: Exception) -> str:
    return f"No mail server: {type(error).__name__}."
