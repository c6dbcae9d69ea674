"""Read the endpoints that the settings declare, and their keys, which are never shown."""

import os

from django.conf import settings

from extensions.judges.context import Endpoint
from extensions.judges.options import KEY
from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.options import OptionError


def declared() -> dict[str, Endpoint]:
    """Return the endpoints by name, in the order of the settings."""
    return {each["name"]: Endpoint(**each) for each in settings.JUDGE_ENDPOINTS}


def get(name: str) -> Endpoint:
    """Return an endpoint; raise OptionError where it is not declared."""
    known = declared()
    if name not in known:
        raise OptionError(
            message(
                "judge.unknown-endpoint",
                "JUDGE_ENDPOINTS does not declare an endpoint “{endpoint}”.",
                endpoint=name,
            ),
            "endpoint",
        )
    return known[name]


def longest_reply(info: MetricInfo | None) -> float:
    """Return the seconds that a judge's reply may take; 0 for others and for lost endpoints."""
    if info is None or info.family != KEY:
        return 0.0
    endpoint = declared().get(str(info.option("endpoint")))
    return endpoint.timeout if endpoint else 0.0


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; empty where it needs none or this host has none."""
    return os.environ.get(endpoint.key_variable, "") if endpoint.key_variable else ""


def lacking(name: str) -> Message | None:
    """Return what this host lacks to send requests to an endpoint; None where nothing is."""
    try:
        endpoint = get(name)
    except OptionError as error:
        return error.problem
    if endpoint.key_variable and not key_of(endpoint):
        return message(
            "judge.no-key",
            "The key of the endpoint {endpoint} is missing. Set {variable} for the worker and "
            "restart it.",
            endpoint=name,
            variable=endpoint.key_variable,
        )
    return None
