"""PURE. Which network addresses the desk may be sent to by an address that a user typed: public ones alone."""

from __future__ import annotations

import ipaddress

# More than the standard library's `is_global` refuses, and said here, so that no version of it can let one in:
# what leads back into the machine, its network or its provider, and IPv6 ranges that carry an IPv4 address inside.
REFUSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' NAT, and some clouds' metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own agent, on a public address
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "::/96",  # unspecified, loopback, IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",  # Teredo and other assignments of its kind
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",  # private; some clouds' metadata
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)


def is_public(text: str) -> bool:
    """May it be connected to? `text`: an address as the resolver gave it; anything else is refused."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if "%" in text or any(address in network for network in REFUSED if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast
