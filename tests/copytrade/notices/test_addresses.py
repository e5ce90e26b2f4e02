"""Which addresses the desk may be sent to: public ones, in no disguise."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copytrade.notices.addresses import REFUSED, is_public

PUBLIC = [
    "93.184.215.14",
    "8.8.8.8",
    "1.1.1.1",
    "223.255.255.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001::200e",
]
WITHIN = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "this network": ["0.0.0.0", "0.1.2.3", "::"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1", "fc00::1"],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"],
    "metadata": ["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"],
    "carriers' NAT": ["100.64.0.1", "100.127.255.255"],
    "multicast and broadcast": ["224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1"],
    "reserved": ["240.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1"],
    "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:a9fe:a9fe"],
    "IPv4-compatible": ["::127.0.0.1", "::10.0.0.1"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1", "192.88.99.1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1"],
    "Teredo": ["2001:0:7f00:1::1", "2001::1"],
    "no address": [
        "",
        "localhost",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "127.0.0.1:80",
        "١٢٧.٠.٠.١",
        "8.8.8.8 ",
    ],
}


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_connected_to(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(("kind", "address"), [(k, a) for k, all_of in WITHIN.items() for a in all_of])
def test_what_leads_inside_is_refused(kind: str, address: str) -> None:
    assert not is_public(address), kind


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "::{}"]))
def test_no_ipv4_address_gets_through_inside_an_ipv6_one(inner: ipaddress.IPv4Address, shape: str) -> None:
    assert not is_public(shape.format(inner))


@given(st.ip_addresses())
def test_what_the_standard_library_holds_for_not_global_is_never_let_in(address: object) -> None:
    if not address.is_global:  # type: ignore[attr-defined]
        assert not is_public(str(address))


@pytest.mark.parametrize("network", REFUSED, ids=str)
def test_both_ends_of_every_refused_network_are_refused(network: object) -> None:
    assert not is_public(str(network[0])) and not is_public(str(network[-1]))  # type: ignore[index]
