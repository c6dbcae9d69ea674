"""Requests with an idempotency key: repeated, they change nothing and get the same answer.

The answer is stored in the transaction of the changes, so that there are both or neither. A refused
request changes nothing and stores nothing. `manage.py release_claims` deletes answers of a day ago.
"""

import base64
import hashlib
import json
from datetime import timedelta
from typing import Any

from cryptography.fernet import Fernet
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import RepeatableAnswer
from core.messages import invalid_field
from metaeval.messages import message

HEADER = "Idempotency-Key"
REPEATED = "Idempotent-Replayed"
LONGEST = 255
STORED_FOR = timedelta(days=1)
BAD_KEY = message(
    "idempotency.key",
    "{header} must have 1 to {n} printable ASCII characters.", header=HEADER, n=LONGEST,
)  # fmt: skip
OTHER_REQUEST = message(
    "idempotency.other-request",
    "This idempotency key was used for another request. Use a new key for each request.",
)


class RepeatedError(Exception):
    """The request was answered before; `response` is that answer."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class OtherRequestError(APIException):
    """The key belongs to another request."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = OTHER_REQUEST.text
    default_code = OTHER_REQUEST.code


def has_key(request: Any) -> bool:
    """Return True for a change with an idempotency key; reading is repeatable without."""
    return request.method not in SAFE_METHODS and HEADER in request.headers


class Repeatable:
    """The answer to one request, in a transaction that stores it with the changes."""

    def __init__(self, request: Request) -> None:
        """Begin. Raises RepeatedError, ValidationError or OtherRequestError."""
        key = request.headers[HEADER]
        if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
            raise invalid_field(HEADER, BAD_KEY)
        own = f"{request.user.pk}:{key}"
        self.cipher = Fernet(base64.urlsafe_b64encode(_digest("answer", own)))
        fields = {"user_id": request.user.pk, "key_hash": _digest("key", own).hex()}
        fingerprint = _fingerprint(request)
        try:
            with transaction.atomic():
                self.row = RepeatableAnswer.objects.create(**fields, fingerprint=fingerprint)
        except IntegrityError:
            found = RepeatableAnswer.objects.get(**fields)
            if found.fingerprint != fingerprint:
                raise OtherRequestError from None
            raise RepeatedError(self._read(found)) from None

    def _read(self, row: RepeatableAnswer) -> Response:
        code, data = json.loads(self.cipher.decrypt(bytes(row.answer or b"")))
        return Response(data, status=code, headers={REPEATED: "true"})

    def store(self, response: Response) -> None:
        """Store the answer; in the end, a refusal is rolled back."""
        rendered = JSONRenderer().render([response.status_code, response.data])
        self.row.answer = self.cipher.encrypt(rendered)
        self.row.save(update_fields=["answer"])


def _digest(purpose: str, own: str) -> bytes:
    return salted_hmac(f"annotation.repeating.{purpose}", own, algorithm="sha256").digest()


def _fingerprint(request: Request) -> str:
    """Return a hash of address and content; files by name and content, in any multipart frame."""
    data = request.data
    if isinstance(data, QueryDict):
        data = [
            [name, *map(_content, data.getlist(name))] for name in sorted(data)
        ]  # fmt: skip
    whole = [request.method, request.get_full_path(), data]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _content(value: Any) -> Any:
    if not hasattr(value, "chunks"):
        return str(value)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return {"file": value.name, "sha256": digest.hexdigest()}


def forget_old() -> int:
    """Delete answers that are older than a day; return how many."""
    rows = RepeatableAnswer.objects.filter(created_at__lt=timezone.now() - STORED_FOR)
    return rows.delete()[0]
