"""Check whether an IP address is on the public internet, so that the server may contact it."""

import ipaddress

# Addresses of this network contain an IPv4 address, which decides.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Networks that Python's tables lack, wholly or in part: protocol assignments (RFC 6890), relays of
# a retired protocol (RFC 7526), documentation (RFC 9637).
NOBODYS = [ipaddress.ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(address: str) -> bool:
    """Return whether an IP address, or the IPv4 address inside it, is public."""
    ip: Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in NAT64:
            inner = ipaddress.IPv4Address(ip.packed[-4:])
        if ip.teredo is not None or ip.is_site_local:
            return False
        ip = inner or ip
    if any(ip in network for network in NOBODYS):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)
