"""Sends one message to one address through Apprise, and says why where that fails. No address leaves this module."""

from __future__ import annotations

import importlib
import logging
import re
import warnings
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from services.domain.alerts import channel as channels
from services.domain.alerts.channel import Channel
from services.domain.text import mask

log = logging.getLogger(__name__)
#: by schema of an address the module of Apprise's plugins and its class; asked by name, for a look into all of its
#: hundred and more plugins costs seconds
PLUGINS: Mapping[str, tuple[str, str]] = {
    "dingtalk": ("dingtalk", "NotifyDingTalk"),
    "feishu": ("feishu", "NotifyFeishu"),
    "lark": ("lark", "NotifyLark"),
    "wecombot": ("wecombot", "NotifyWeComBot"),
    "slack": ("slack", "NotifySlack"),
    "mailto": ("email", "NotifyEmail"),
    "mailtos": ("email", "NotifyEmail"),
    "json": ("custom_json", "NotifyJSON"),
    "jsons": ("custom_json", "NotifyJSON"),
}
#: what a kind of channel understands
SCHEMAS: Mapping[str, tuple[str, ...]] = {
    channels.DINGTALK: ("dingtalk",),
    channels.FEISHU: ("feishu", "lark"),
    channels.WECOM: ("wecombot",),
    channels.SLACK: ("slack",),
    channels.MAIL: ("mailto", "mailtos"),
    channels.WEBHOOK: ("json", "jsons"),
}
#: addresses as the services themselves show them
_NATIVE = (
    (channels.DINGTALK, re.compile(r"https://oapi\.dingtalk\.com/robot/send\?access_token=(\w+)\Z"), r"dingtalk://\1"),
    (channels.FEISHU, re.compile(r"https://open\.feishu\.cn/open-apis/bot/v2/hook/([\w-]+)\Z"), r"feishu://\1"),
    (channels.WECOM, re.compile(r"https://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([\w-]+)\Z"), r"wecombot://\1"),
    (channels.SLACK, re.compile(r"https://hooks\.slack\.com/services/(\w+)/(\w+)/(\w+)\Z"), r"slack://\1/\2/\3"),
    (channels.WEBHOOK, re.compile(r"http(s?)://(.+)\Z"), r"json\1://\2"),
)  # fmt: skip
_TYPES = {"critical": "failure", "warning": "warning", "note": "info", "resolved": "success"}
#: parts of an address as long as these are secrets by themselves
_PART = re.compile(r"[^/?&=@:#]{12,}")


class BadAddress(Exception):
    """The address is none that a channel of this kind understands."""


def address(channel: Channel, secret: str) -> str:
    """The address as Apprise wants it; whatever of it could be a secret is dots wherever this process shows something.

    Raises:
        BadAddress: it is none.
    """
    mask.know([secret, *_PART.findall(secret)])
    found = secret.strip()
    for kind, pattern, shape in _NATIVE:
        if kind == channel.kind and pattern.match(found):
            found = pattern.sub(shape, found)
            if kind == channels.WEBHOOK:
                found = _with_query(found)
            break
    if found.partition("://")[0].lower() not in SCHEMAS[channel.kind]:
        raise BadAddress
    if channel.kind == channels.MAIL and (to := channel.options.get("to")):
        # quoted: what stands in the store must not become a setting of the address, as another server
        found += f"{'&' if '?' in found else '?'}to={quote(to, safe='@,')}"
    return found


def _with_query(found: str) -> str:
    """What follows ``?`` in a person's own address goes to the server: without the dashes Apprise takes each for a
    setting of its own and leaves it out.
    """
    head, _, query = found.partition("?")
    return "?".join(filter(None, (head, "&".join(f"-{one}" for one in query.split("&") if one))))


def send(channel: Channel, secret: str, title: str, body: str, tone: str) -> str:
    """Hand a message over; "" once it was taken, else why not (masked). ``tone``: a severity, or ``resolved``.

    Blocks for as long as the service takes, some ten seconds at most.

    Raises:
        BadAddress: the address is none of this kind.
    """
    carrier = _plugin(address(channel, secret))
    # Imported where it is used: 150 ms and 15 MB that a process which sends nothing does not pay.
    import apprise

    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as words:  # type: ignore[no-untyped-call]
        try:
            taken = bool(carrier.notify(body=body, title=title, notify_type=_TYPES.get(tone, "info")))
        except Exception as exc:  # a plugin of another project: whatever it meets, this message waits
            log.debug("a channel failed", exc_info=True)
            return _masked(f"{type(exc).__name__}: {exc}")
        told = words.getvalue()
    return "" if taken else _masked("; ".join(line for line in told.splitlines() if line.strip())) or "refused"


def _plugin(found: str) -> Any:
    module, name = PLUGINS[found.partition("://")[0].lower()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what the mail plugin imports
        plugin = getattr(importlib.import_module(f"apprise.plugins.{module}"), name)
    try:
        parts = plugin.parse_url(found)
        return plugin(**parts)
    except (TypeError, ValueError) as exc:
        raise BadAddress from exc


def _masked(text: str) -> str:
    return mask.known(mask.masked_text(text))[:300]
