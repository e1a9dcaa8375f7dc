"""Where alerts go: what may stand in a channel, and whom a rule, an escalation or a known issue reaches."""

from __future__ import annotations

import pytest

from services.domain.alerts import channel as channels
from services.domain.alerts.channel import MAIL, Channel
from services.domain.errors import UsageError

KNOWN = {
    "ops": Channel(name="ops"),
    "boss": Channel(name="boss", group="lead"),
    "off": Channel(name="off", group="x", enabled=False),
}


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        (("boss",), ["boss"]),
        (("lead",), ["boss"]),
        (("duty", "boss"), ["ops", "boss"]),
        (("gone",), ["ops"]),  # a channel that was removed
        (("off",), ["ops"]),
        (("x",), ["ops"]),
        ((), ["ops"]),
    ],
)
def test_no_message_is_for_nobody_while_somebody_is_on_duty(wanted: tuple[str, ...], reached: list[str]) -> None:
    assert channels.chosen(wanted, KNOWN) == reached


def test_where_nobody_is_on_duty_nobody_is_made_up() -> None:
    assert channels.chosen(("gone",), {"boss": KNOWN["boss"]}) == []


def test_a_name_that_is_no_channel_is_refused_with_those_there_are() -> None:
    channels.need(("duty", "lead", "ops", "x"), KNOWN, "to")
    with pytest.raises(UsageError, match="is called bss; there are boss, duty, lead, off, ops, x") as refused:
        channels.need(("ops", "bss"), KNOWN, "escalate_to")
    assert refused.value.field == "escalate_to"


@pytest.mark.parametrize("to", ["boss@example.com", "boss+night@mail.example.com, li.lei@example.cn", "root@localhost"])
def test_mail_goes_to_addresses(to: str) -> None:
    channels.check(Channel(name="m", kind=MAIL, options={"to": to}))


@pytest.mark.parametrize(
    "to",
    ["boss", "a@b.com&smtp=evil.example", "a@b.com,", "a b@c.com", "a@b@c", "\uff41@b.com", "a@b.com\nBcc: c@d.com"],
)
def test_what_is_no_address_of_mail_is_refused(to: str) -> None:
    with pytest.raises(UsageError, match="no address of mail"):
        channels.check(Channel(name="m", kind=MAIL, options={"to": to}))
