"""Names and addresses of machines: what can be one, and which lie in the open network. Pure."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

from services.domain.text.said import said

MAX_HOST, MAX_LABEL = 253, 63
_MARKS = re.compile(r"[\s/?#@:%\[\]\\<>^`{|}\"]")
#: of the IPv6 space only this is handed out; in it are examples, tunnels and tests
_GLOBAL = ipaddress.ip_network("2000::/3")
_CLOSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
            "2001::/23", "2001:db8::/32", "3ffe::/16", "3fff::/20",
        ),
    )
)  # fmt: skip
_TEREDO, _NAT64 = ipaddress.ip_network("2001::/32"), ipaddress.ip_network("64:ff9b::/96")
_ISATAP = 0x00005EFE
#: names that Windows takes for devices, whatever ending they have
_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])[ .]*(?:\..*)?\Z", re.IGNORECASE
)


def is_public(text: str) -> bool:
    """Whether an IP address is one of the open network, also the one that it carries inside; what is unknown is not."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return _is_public_v6(address)
    return address.is_global and not address.is_multicast and not _is_closed(address)


def _is_public_v6(address: ipaddress.IPv6Address) -> bool:
    low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        return is_public(str(address.ipv4_mapped))
    if address in _NAT64:
        return is_public(str(low))
    if address.sixtofour is not None:
        return is_public(str(address.sixtofour))
    if address in _TEREDO and address.teredo is not None:
        return all(is_public(str(inner)) for inner in address.teredo)
    if (int(address) >> 32) & 0xFDFFFFFF == _ISATAP and not is_public(str(low)):
        return False
    return address in _GLOBAL and address.is_global and not address.is_multicast and not _is_closed(address)


def _is_closed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return any(address in network for network in _CLOSED if network.version == address.version)


def problem_of(host: str) -> str:
    """Why a text can be no name or address of a machine, "" if it can; as a part of a sentence, without the text."""
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return said("host.v6")
        return ""
    if not host.strip("."):
        return said("host.empty")
    if any(unicodedata.category(char)[0] == "C" for char in host) or _MARKS.search(host):
        return said("host.marks")
    return _problem_of_name(host.removesuffix("."))


def _problem_of_name(name: str) -> str:
    if "" in name.split("."):
        return said("host.dots")
    try:
        written = name.encode("idna").decode("ascii") if not name.isascii() else name
    except UnicodeError:
        return said("host.label", most=MAX_LABEL)
    if len(written) > MAX_HOST:
        return said("host.long", most=MAX_HOST)
    return said("host.label", most=MAX_LABEL) if any(len(part) > MAX_LABEL for part in written.split(".")) else ""


def is_device(name: str) -> bool:
    """Whether Windows would open a device in place of a file of this name."""
    return _DEVICES.match(name.strip(" ")) is not None
