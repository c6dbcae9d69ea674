"""Where a request comes from, as far as that can be known."""

import ipaddress
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "unknown"
# How settings.TRUSTED_PROXIES names a proxy that comes by a Unix socket, without an address.
UNIX = "unix"
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def network_address(request: HttpRequest) -> str:
    """Return whom to hold responsible: an IPv4 address, or the /64 network of an IPv6 one.

    X-Forwarded-For is whatever a visitor sends, up to what our own proxies add at its end. So it
    is read from its end, and only while whoever added an entry is in `settings.TRUSTED_PROXIES`.
    """
    peer = str(request.META.get("REMOTE_ADDR", ""))
    found = UNKNOWN
    for text in (peer, *_forwarded(request)):
        address = _parsed(text)
        found = _network(address) if address else found
        if not _is_trusted(address, text):
            return found
    return found


def _forwarded(request: HttpRequest) -> Iterator[str]:
    entries = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    return (entry.strip() for entry in reversed(entries))


def _parsed(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A server that listens on IPv6 sees IPv4 visitors so, all in one /64.
    return getattr(address, "ipv4_mapped", None) or address


def _is_trusted(address: Address | None, text: str) -> bool:
    if address is None:
        return text == "" and UNIX in settings.TRUSTED_PROXIES
    networks = (each for each in settings.TRUSTED_PROXIES if each != UNIX)
    return any(address in ipaddress.ip_network(each) for each in networks)


def _network(address: Address) -> str:
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)
