"""Pulsar before it is opened: its addresses, its words, and how it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from services import addresses
from services.broker.kind import BrokerKind, Place, Recorded
from services.domain.errors import ConsoleError, UsageError
from services.domain.text.said import said, words_of
from services.domain.text.sentences import N_
from services.ports import Broker, Clock

SCHEMES = ("pulsar", "pulsar+ssl")
LIKE = "pulsar://:token@host:6650/tenant/namespace"
_PLAIN = ("delay", "ids")
_SECURE = ("cacertfile", "certfile", "keyfile")
#: who holds a retry back: the store (any Pulsar, pulsar-lite too) or the broker (deliver_after)
DELAYS = ("store", "broker")
_PATH = re.compile(r"(/[A-Za-z0-9_.=:-]+/[A-Za-z0-9_.=:-]+)?/?")

SENTENCES: dict[str, str] = {
    "doctor.pulsar_uncounted": N_("What waits at the broker is not counted there; the records tell it"),
    "doctor.pulsar_uncounted.remedy": N_(
        "Name the admin API of Pulsar in broker.management_url (http://host:8080) to see backlogs and consumers."
    ),
    "doctor.pulsar_admin": N_("The admin API of Pulsar does not answer: {error}"),
    "doctor.pulsar_admin.remedy": N_("Check broker.management_url, and whether the token may read topic statistics."),
    "doctor.pulsar_order": N_(
        "Within a lane tasks run in the order in which they were sent: Pulsar knows no priorities"
    ),
    "doctor.pulsar_order.remedy": N_("Choose the lane by urgency; between lanes the share of slots decides."),
}


def _check(url: str, field: str) -> None:
    text = url.strip()
    secure = text.startswith("pulsar+ssl:")
    if not _PATH.fullmatch(urlsplit(addresses.each(text)[0]).path):
        raise UsageError(said("address.unreadable", field=field, like=LIKE), field=field)
    known = (*_PLAIN, *_SECURE) if secure else _PLAIN
    for name, value in parse_qsl(text.partition("?")[2], keep_blank_values=True):
        if name not in known:
            raise UsageError(said("address.option", field=field, name=name, known=", ".join(known)), field=field)
        if name == "ids" and not re.fullmatch(r"[0-9]{1,3}", value):
            raise UsageError(said("address.one_of", field=field, name=name, known="0-999"), field=field)
        if name == "delay" and value not in DELAYS:
            raise UsageError(said("address.one_of", field=field, name=name, known=", ".join(DELAYS)), field=field)


def _open(place: Place, clock: Clock, _foreign: Iterable[str], recorded: Recorded) -> Broker:
    from services.broker.pulsar.broker import PulsarBroker

    return PulsarBroker(
        place.url,
        clock,
        management_url=place.management_url,
        insecure=place.insecure_tls,
        recorded=recorded,
    )


def _ask_management(place: Place, clock: Clock) -> str:
    from services.broker.pulsar.address import parse
    from services.broker.pulsar.admin import Admin

    try:
        asked = Admin(parse(place.url), place.management_url, clock, insecure=place.insecure_tls)
    except ConsoleError as exc:
        return words_of(exc)
    asked.backlog("rpa_tasks_normal")
    if not asked.error:
        return ""
    return str(said("broker.admin_silent", place=addresses.shown(place.management_url), error=asked.error))


KIND = BrokerKind(
    name="Pulsar",
    schemes=SCHEMES,
    secure="pulsar+ssl",
    like=LIKE,
    check=_check,
    open=_open,
    ask_management=_ask_management,
    sentences=SENTENCES,
)
