"""The endpoints that the settings declare, and their keys, which are read and never shown."""

import os

from django.conf import settings

from extensions.judges.desk import Endpoint
from extensions.judges.options import KEY
from metrics.base import MetricInfo


def declared() -> dict[str, Endpoint]:
    """Return the endpoints by name, in the order of the settings."""
    return {each["name"]: Endpoint(**each) for each in settings.JUDGE_ENDPOINTS}


def get(name: str) -> Endpoint:
    """Return an endpoint; ValueError where nobody declares it."""
    known = declared()
    if name not in known:
        names = ", ".join(known) or "none"
        raise ValueError(f"Endpoint: {name!r} is not declared in JUDGE_ENDPOINTS; there: {names}.")
    return known[name]


def longest_reply(info: MetricInfo | None) -> float:
    """Return the seconds that a judge's reply may take; 0 for other metrics and lost endpoints."""
    if info is None or info.family != KEY:
        return 0.0
    endpoint = declared().get(str(info.option("endpoint")))
    return endpoint.timeout if endpoint else 0.0


def key_of(endpoint: Endpoint) -> str:
    """Return the key of an endpoint; empty where it needs none or has none here."""
    return os.environ.get(endpoint.key_variable, "") if endpoint.key_variable else ""


def lacking(name: str) -> str:
    """Say what this host lacks to ask an endpoint; empty where it can."""
    try:
        endpoint = get(name)
    except ValueError as error:
        return str(error)
    if endpoint.key_variable and not key_of(endpoint):
        return (
            f"The key of the endpoint {name} is missing: set {endpoint.key_variable} for the "
            "worker, and start it again."
        )
    return ""
