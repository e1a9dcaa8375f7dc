"""Which addresses lie in the open network, which texts can be hosts, and what Windows takes for a device."""

from __future__ import annotations

import pytest

from services.domain.fleet import hosts
from services.domain.task.artifact import folder_of, safe_name

PUBLIC = [
    "8.8.8.8", "1.1.1.1", "223.5.5.5", "2606:4700::1111", "2400:3200::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    "2002:808:808::1",
]  # fmt: skip
LOCAL = [
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.127.255.255", "0.0.0.0", "0.1.2.3", "192.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::2", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8", "::ffff:100.64.0.1", "::ffff:0.0.0.0",
    "64:ff9b::a00:1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::6440:1", "64:ff9b::", "64:ff9b:1::a00:1", "64:ff9b:1::808:808",
    "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fec0:0:0:ffff::1", "feff::1", "fc00::1", "fd00:ec2::254",
    "ff02::1",
    "ff0e::1", "100::1", "100:0:0:1::1", "2001:db8::1", "2001::1", "2001:0:7f00:1:0:ffff:f5ff:fffe",
    "2001:0:808:808:0:ffff:80ff:fffe", "2001:2::1", "2001:10::1", "2001:20::1", "2002:a00:1::", "2002:7f00:1::1",
    "2002:c0a8:101::1", "2002:6440:1::1", "3ffe::1", "3fff::1", "3fff:fff::1", "3fff:0fff:ffff::", "4000::1",
    "5f00::1",
    "8000::1", "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.0.1", "1.2.3", "", "example.com",
    "2130706433",
]  # fmt: skip
NO_HOSTS = {
    "a..b": "between two dots", ".a": "between two dots", "a..": "between two dots", "..": "empty", "": "empty",
    ".": "empty", "a" * 64: "longer than 63", f"{'a' * 64}.com": "longer than 63",
    ".".join(["a" * 60] * 5): "longer than 253",
    "a b": "blanks", "a\tb": "blanks", "a\0b": "blanks", "a\u202eb": "blanks",
    "a\u200bb": "blanks", "a%2fb": "blanks",
    "a/b": "blanks", "[a]": "blanks", "fe80::zz": "IPv6", "1:2": "IPv6",
    "é" * 60: "longer than 63", "中..国": "between",
    "\u0378": "blanks", "xn--\u00e9..": "between",
}  # fmt: skip
HOSTS = [
    "localhost",
    "a.b",
    "a.b.",
    "db_1.internal",
    "柚子.测试",
    "10.0.0.1",
    "2130706433",
    "0x7f.1",
    "::1",
    "fe80::1%eth0",
    "a" * 63,
]
DEVICES = [
    "CON", "con", "Con.txt", "PRN", "aux.png", "nul", "nul.txt", "NUL.tar.gz", "COM1", "com9.log", "COM0",
    "LPT1", "lpt9.x",
    "COM¹", "com².txt", "LPT³", "CONIN$", "conout$", "CONOUT$.txt", "CLOCK$", "con .txt", "nul . .txt", "aux.",
    "nul ", " con",
]  # fmt: skip
NO_DEVICES = ["console", "con-1.txt", "nulls.txt", "com10", "COM", "lpt", "auxiliary", "conin", "a.con", "com⁴"]


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_open_network(address: str) -> None:
    assert hosts.is_public(address)


@pytest.mark.parametrize("address", LOCAL)
def test_addresses_that_lead_elsewhere(address: str) -> None:
    assert not hosts.is_public(address)


@pytest.mark.parametrize("host", NO_HOSTS, ids=lambda host: repr(host)[:30])
def test_what_can_be_no_host(host: str) -> None:
    assert NO_HOSTS[host] in hosts.problem_of(host)


@pytest.mark.parametrize("host", HOSTS)
def test_what_can_be_a_host(host: str) -> None:
    assert hosts.problem_of(host) == ""


@pytest.mark.parametrize("name", DEVICES)
def test_no_file_is_named_like_a_device(name: str) -> None:
    assert hosts.is_device(name)
    kept = safe_name(name)
    assert not hosts.is_device(kept)
    assert kept == kept.strip(" .")
    assert not hosts.is_device(folder_of(name).rpartition("/")[2])
    assert not hosts.is_device(safe_name(f"folder/{name}"))
    assert not hosts.is_device(safe_name(f"{name}\u202e"))


@pytest.mark.parametrize("name", NO_DEVICES)
def test_other_names_stay(name: str) -> None:
    assert not hosts.is_device(name)
    assert safe_name(name) == name
