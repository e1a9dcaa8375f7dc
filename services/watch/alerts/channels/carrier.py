"""Sends one message to one address through Apprise, and says why where that fails. No address leaves this module."""

from __future__ import annotations

import importlib
import logging
import re
import threading
import warnings
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

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
#: those whose answer is 200 whether they took a message or not
_ANSWERS_ALWAYS = frozenset({"dingtalk", "feishu", "lark", "wecombot"})
#: bytes of a message that a service takes; what is longer goes in parts, and no more parts than these
BYTES: Mapping[str, int] = {channels.WECOM: 2_000, channels.DINGTALK: 18_000, channels.FEISHU: 18_000}
MOST_PARTS = 6
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
    for head, part in _parts(title, body, BYTES.get(channel.kind, 0)):
        if why := _hand_over(carrier, head, part, tone):
            return why
    return ""


def _hand_over(carrier: Any, title: str, body: str, tone: str) -> str:
    # Imported where it is used: 150 ms and 15 MB that a process which sends nothing does not pay.
    import apprise

    logging.getLogger(apprise.__name__).propagate = False  # whoever sends says what it told, once and masked
    _ANSWER.refused = ""
    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as words:  # type: ignore[no-untyped-call]
        try:
            # said to be plain, so that mail keeps its lines and takes no name of a shop for a mark of its own
            kind = apprise.NotifyFormat.TEXT
            taken = bool(carrier.notify(body=body, title=title, notify_type=_TYPES.get(tone, "info"), body_format=kind))
        except Exception as exc:  # a plugin of another project: whatever it meets, this message waits
            log.debug("a channel failed", exc_info=True)
            return _masked(f"{type(exc).__name__}: {exc}")
        told = words.getvalue()
    if _ANSWER.refused:
        return _masked(_ANSWER.refused)
    return "" if taken else _masked("; ".join(line for line in told.splitlines() if line.strip())) or "refused"


def _plugin(found: str) -> Any:
    schema = found.partition("://")[0].lower()
    name, plugin_class = PLUGINS[schema]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what the mail plugin imports
        module: Any = importlib.import_module(f"apprise.plugins.{name}")
    if schema in _ANSWERS_ALWAYS and not isinstance(module.requests, _Reading):
        module.requests = _Reading(module.requests)
    plugin = getattr(module, plugin_class)
    try:
        parts = plugin.parse_url(found)
        return plugin(**parts)
    except (TypeError, ValueError) as exc:
        raise BadAddress from exc


def _parts(title: str, body: str, most: int) -> list[tuple[str, str]]:
    """A message as the service takes it: whole, or by lines in parts of so many bytes with its title. 0: any length."""
    if not most or len(f"{title}\n{body}".encode()) <= most:
        return [(title, body)]
    head = _cut(title, most // 4)
    room = most - len(head.encode()) - 20
    parts = [""]
    for line in body.splitlines():
        kept = _cut(line, room)
        if parts[-1] and len(f"{parts[-1]}\n{kept}".encode()) > room:
            parts.append("")
        parts[-1] = f"{parts[-1]}\n{kept}" if parts[-1] else kept
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 1], f"{_cut(parts[MOST_PARTS - 1], room - 4)}\n…"]
    return [(f"{head} ({place}/{len(parts)})", part) for place, part in enumerate(parts, 1)]


def _cut(text: str, most: int) -> str:
    """No more bytes than these, and no half of a character."""
    found = text.encode()
    return text if len(found) <= most else found[: most - 3].decode(errors="ignore") + "…"


class _Answer(threading.local):
    """What a service said to this thread's message while it answered that all is well."""

    refused = ""


_ANSWER = _Answer()


class _Reading:
    """``requests`` for a plugin that looks at the status alone: these services answer 200 and say in the body that they
    took nothing (too often, too long, no such robot). Without this such a message would count as sent.
    """

    def __init__(self, requests: Any) -> None:
        self._requests = requests

    def __getattr__(self, name: str) -> Any:
        return getattr(self._requests, name)

    def post(self, *args: Any, **options: Any) -> Any:
        answer = self._requests.post(*args, **options)
        _ANSWER.refused = _refusal(answer)
        return answer


def _refusal(answer: Any) -> str:
    """Why the body of an answer says that the message was not taken, "" where it does not."""
    try:
        found = msgspec.json.decode(answer.content)
    except (msgspec.DecodeError, RecursionError, TypeError):
        return ""
    for code, why in (("errcode", "errmsg"), ("code", "msg"), ("StatusCode", "StatusMessage")):
        if isinstance(found, dict) and isinstance(number := found.get(code), int) and number:
            return f"{code} {number}: {found.get(why, '')}"
    return ""


def _masked(text: str) -> str:
    return mask.known(mask.masked_text(text))[:300]
