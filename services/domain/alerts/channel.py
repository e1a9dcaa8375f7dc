"""Where alerts are sent: a document without any secret; the address is resolved on the machine that sends. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from services.domain.alerts import rule as rules
from services.domain.upkeep.stored import Document, Instant

KIND = "alert_channel"
EN, ZH = "en", "zh"
LANGUAGES = (EN, ZH)
DINGTALK, FEISHU, WECOM, SLACK, MAIL, WEBHOOK = "dingtalk", "feishu", "wecom", "slack", "mail", "webhook"
KINDS = (DINGTALK, FEISHU, WECOM, SLACK, MAIL, WEBHOOK)
#: what may be said of a channel in the store, by kind; everything else belongs to its secret
OPTIONS: Mapping[str, tuple[str, ...]] = {MAIL: ("to",)}
RATE, MOST_RATE = 20, 600
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_MAIL = re.compile(r"[\w.!#$%*+/=^{|}~'-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}\Z", re.ASCII)
#: an address, or a long run of letters and digits as tokens have them
_ADDRESS = re.compile(r"://|[?&]\w*(?:key|token)\w*=|^[A-Za-z0-9+/_=-]{32,}$", re.IGNORECASE)


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """One way to people. ``secret``: name under which its address is found, its own name where that is ""."""

    name: str
    kind: str = WEBHOOK
    language: str = EN
    group: str = rules.DUTY
    secret: str = ""
    options: Mapping[str, str] = {}
    rate: int = RATE  #: messages a minute at most
    enabled: bool = True
    by: str = ""
    at: Instant = 0

    @property
    def secret_name(self) -> str:
        """The name of its secret."""
        return self.secret or self.name

    @property
    def variable(self) -> str:
        """The environment variable that holds it on a machine that leads."""
        return "FLEETDECK_SECRET__" + re.sub(r"[^A-Za-z0-9]", "_", self.secret_name).upper()


def check(channel: Channel) -> None:
    """Look at every field.

    Raises:
        UsageError: a channel cannot be like this, or an address stands where only names may.
    """
    for field in ("name", "secret", "group"):
        _check_name(channel, field, getattr(channel, field))
    if channel.kind not in KINDS:
        raise rules.refusal("alert.bad_kind", "kind", value=channel.kind[:80], known=", ".join(KINDS))
    if channel.language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise rules.refusal("alert.bad_language", "language", value=channel.language[:80], known=known)
    if not 1 <= channel.rate <= MOST_RATE:
        raise rules.refusal("alert.bad_rate", "rate", most=MOST_RATE)
    _check_options(channel)


def _check_name(channel: Channel, field: str, value: str) -> None:
    if _ADDRESS.search(value) and field != "name":
        raise rules.refusal("alert.secret_inside", field, variable=Channel(name=channel.name[:64]).variable)
    if not _NAME.match(value) and not (field == "secret" and not value):
        raise rules.refusal("alert.bad_name", field, value=value[:80])


def _check_options(channel: Channel) -> None:
    allowed = OPTIONS.get(channel.kind, ())
    for option, value in channel.options.items():
        if option not in allowed:
            known = ", ".join(allowed) or "-"
            raise rules.refusal("alert.bad_option", "options", value=option[:80], known=known)
        if _ADDRESS.search(value) or len(value) > 500:
            raise rules.refusal("alert.secret_inside", "options", variable=channel.variable)
        for one in value.split(",") if option == "to" else ():
            if not _MAIL.match(one.strip()):
                raise rules.refusal("alert.bad_mail", "options", value=one.strip()[:80])


DOCUMENT = Document(Channel, check)


def readable(stored: Mapping[str, str]) -> dict[str, Channel]:
    """Those that can be read, by name; the doctor names the others."""
    return {name: channel for name, channel in DOCUMENT.readable(stored).items() if channel.name == name}


def chosen(wanted: Iterable[str], channels: Mapping[str, Channel]) -> list[str]:
    """The enabled channels that these names and groups mean. Where they mean none (nobody of a group, a channel that
    was removed or switched off), those on duty hear it: a message that reaches nobody would be none.
    """
    names = set(wanted)
    found = [one.name for one in channels.values() if one.enabled and (one.name in names or one.group in names)]
    if not found and rules.DUTY not in names:
        return chosen((rules.DUTY,), channels)
    return found


def need(wanted: Iterable[str], channels: Mapping[str, Channel], field: str) -> None:
    """Refuse a name that is neither a channel nor a group of them; those groups that every fleet has may be empty.

    Raises:
        UsageError: it names the first of them.
    """
    known = {*channels, *(one.group for one in channels.values()), rules.DUTY, rules.LEAD}
    for name in wanted:
        if name not in known:
            raise rules.refusal("alert.no_receiver", field, value=name[:80], known=", ".join(sorted(known)))
