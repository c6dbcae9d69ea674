"""Deliver one e-mail or one webhook; the type of the error says whether a retry may help.

An admin chooses the address of a webhook, and the server calls it from inside its network. So
only public addresses are called, and exactly the one that was checked: the name is not resolved
a second time, redirects are not followed, and no proxy is used.
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
from metaeval.messages import Message, MessageError, message

SIGNATURE = "X-Touchstone-Signature"
# Answers of a server that may change later.
PASSING = {408, 425, 429}
# Control and format characters, and all kinds of spaces.
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
NO_ADDRESS = message("webhook.no-address", "This is not a web address.")


class DeliveryError(MessageError):
    """Not delivered, and a retry does not help."""


class TemporaryError(DeliveryError):
    """Not delivered; a retry may help."""


class UnsureError(DeliveryError):
    """Handed over without an answer: it may arrive or not."""


def secret_of(slug: str) -> str:
    """Return the secret that signs the webhooks of a campaign."""
    return salted_hmac("annotation.webhook", slug, algorithm="sha256").hexdigest()


def signature(secret: str, body: bytes) -> str:
    """Return the signature header of a body: `sha256=` and the HMAC in hexadecimal."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def check_url(url: str) -> SplitResult:
    """Return the parts of an address that may be called, judging by its text.

    Raises DeliveryError.
    """
    # urlsplit silently drops some of them, so the checked address would not be the given one.
    if any(unicodedata.category(character) in UNSEEN for character in url):
        raise DeliveryError(
            message(
                "webhook.characters",
                "The address of a webhook must not contain spaces or control characters.",
            )
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise DeliveryError(NO_ADDRESS) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise DeliveryError(
            message(
                "webhook.scheme",
                "The address of a webhook must begin with https:// or http://.",
            )
        )
    if parts.username is not None or parts.password is not None:
        raise DeliveryError(
            message(
                "webhook.password",
                "The address of a webhook must not contain a user name or password.",
            )
        )
    return parts


def post(url: str, body: bytes, *, secret: str) -> None:
    """Send a signed JSON body; anything but a 2xx answer raises DeliveryError."""
    parts = check_url(url)
    connection = _connection(parts, _public_address(parts))
    # The timeout applies to each packet; the timer stops servers that send slowly.
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
        refused = message(
            "webhook.certificate",
            "The certificate was refused: {reason}.",
            reason=error.verify_message,
        )
        raise DeliveryError(refused) from error
    except (OSError, HTTPException) as error:
        silent = message("webhook.silent", "No answer: {error}.", error=type(error).__name__)
        raise TemporaryError(silent) from error
    except ValueError as error:
        raise DeliveryError(NO_ADDRESS) from error
    finally:
        watchdog.cancel()
        connection.close()
    _judge(status)


def _judge(status: int) -> None:
    if 200 <= status < 300:
        return
    answer = message("webhook.answer", "The server answered {status}.", status=str(status))
    if status in PASSING or status >= 500:
        raise TemporaryError(answer)
    if 300 <= status < 400:
        raise DeliveryError(
            message(
                "webhook.redirect",
                "The server answered {status}. Redirects are not followed.",
                status=str(status),
            )
        )
    raise DeliveryError(answer)


def _public_address(parts: SplitResult) -> str:
    """Resolve the host, and refuse it if any of its addresses is not public."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        unknown = message(
            "webhook.unknown-host", "The host {host} has no address.", host=parts.hostname
        )
        raise TemporaryError(unknown) from error
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.WEBHOOK_ALLOW_PRIVATE and not all(map(is_public, addresses)):
        raise DeliveryError(
            message(
                "webhook.private",
                "The host {host} is in a private network. Set WEBHOOK_ALLOW_PRIVATE to allow that.",
                host=parts.hostname,
            )
        )
    return addresses[0]


class _Pinned(HTTPConnection):
    """A connection to one address, even if the name resolves to another one now."""

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
    """Send an e-mail once; raises DeliveryError, or UnsureError if the server does not answer."""
    try:
        EmailMessage(subject, text, None, [address], connection=server).send()
    except (OSError, SMTPException) as error:
        raise _refusal(error) or UnsureError(_silent(error)) from error


def _refusal(error: Exception) -> DeliveryError | None:
    """Return the error for an answer of the mail server; None without an answer."""
    if isinstance(error, SMTPRecipientsRefused):
        codes = {code for code, _ in error.recipients.values()}
        kind = TemporaryError if any(code < 500 for code in codes) else DeliveryError
        return kind(message("mail.recipient", "The mail server refused the recipient."))
    if isinstance(error, SMTPResponseException):
        kind = DeliveryError if error.smtp_code >= 500 else TemporaryError
        return kind(
            message("mail.answer", "The mail server answered {code}.", code=str(error.smtp_code))
        )
    return None


def _silent(error: Exception) -> Message:
    return message("mail.silent", "No mail server: {error}.", error=type(error).__name__)
