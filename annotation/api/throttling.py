"""How many requests programs may send."""

import math
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException
from rest_framework.throttling import UserRateThrottle

from annotation.entry.throttle import network_address
from metaeval.messages import Message, message


class TooManyRequests(APIException):
    """429; REST framework makes the header Retry-After of `wait`, in seconds."""

    status_code = 429

    def __init__(self, wait: float | None) -> None:
        refusal = RequestsPerMinute.refusal(wait)
        super().__init__(refusal.text, refusal.code)
        self.wait = refusal.parameters["seconds"]


class RequestsPerMinute(UserRateThrottle):
    """`settings.API_REQUESTS_PER_MINUTE` of an account, or of a network where nobody signed in.

    Each web process counts for itself.
    """

    def get_rate(self) -> str | None:
        """Return the rate as REST framework writes it; None for no limit."""
        limit = settings.API_REQUESTS_PER_MINUTE
        return f"{limit}/minute" if limit else None

    @staticmethod
    def refusal(seconds: float | None) -> Message:
        """Return why a request is refused, and how long to wait."""
        return message(
            "api.too-many-requests",
            "The account has sent more than {limit} requests within a minute. Try again in "
            "{seconds} s.",
            limit=settings.API_REQUESTS_PER_MINUTE,
            seconds=max(1, math.ceil(seconds or 0)),
        )

    def get_ident(self, request: Any) -> str:
        """Return the network of a visitor."""
        return network_address(request)
