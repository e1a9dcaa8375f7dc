"""RabbitMQ before it is opened: its addresses, its words, and how it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl, unquote, urlsplit

from services import addresses
from services.broker.kind import BrokerKind, Place, Recorded
from services.domain.errors import ConsoleError, UsageError
from services.domain.fleet import hosts
from services.domain.text.said import said, words_of
from services.domain.text.sentences import N_
from services.ports import Broker, Clock

SCHEMES = ("amqp", "amqps")
LIKE = "amqp://user:password@host:5672/vhost"
OPTIONS = ("heartbeat", "cacertfile", "certfile", "keyfile", "server_name_indication")
#: what the addresses of other programs call switching the check of the server's certificate off
_WEAKENING = ("verify", "fail_if_no_peer_cert", "ssl_options", "ssl")
MOST_VHOST = 255  #: bytes of the name of a virtual host; its length is one byte on the wire
_MOST_HEARTBEAT = 65_535  #: seconds; two bytes on the wire

SENTENCES: dict[str, str] = {
    "doctor.one_node": N_("Queues that stand on one node of the cluster and go away with it: {queues}"),
    "doctor.one_node.remedy": N_(
        "They are from before Fleetdeck replicated them. In a quiet moment delete each when it is empty"
        " (rabbitmqctl delete_queue NAME --if-empty); workers make it again on several nodes within seconds."
    ),
    "doctor.few_copies": N_("Queues that stand on fewer nodes than they could, of {nodes}: {queues}"),
    "doctor.few_copies.remedy": N_(
        "Add copies on each node that has none: rabbitmq-queues grow NODE all --queue-pattern '^(rpa_|single_shop_)'"
    ),
    "doctor.alarm": N_("RabbitMQ has an alarm and holds publishers back: {what}"),
    "doctor.alarm.remedy": N_("Give its machine memory or disk, or raise the limit."),
    "doctor.no_management": N_("What the management API of RabbitMQ tells is not known. {error}"),
    "doctor.no_management.remedy": N_(
        "Without it alarms, policies, unacknowledged messages and the arguments of queues are not seen."
    ),
    "doctor.no_alarms": N_("Whether RabbitMQ has an alarm is not known. {error}"),
    "doctor.no_alarms.remedy": N_("Without it alarms are not seen; queues and policies are."),
    "doctor.policy_message_ttl": N_(
        "By the policy {policy} messages expire in {queues}: tasks would vanish, or retry early"
    ),
    "doctor.policy_message_ttl.remedy": N_("Take message-ttl out of it, or let its pattern leave these queues out."),
    "doctor.policy_max_length": N_(
        "The policy {policy} bounds {queues}: what is too many is dropped, the oldest first"
    ),
    "doctor.policy_max_length.remedy": N_("Take max-length out of it, or let its pattern leave these queues out."),
    "doctor.policy_max_length_rejects": N_(
        "The policy {policy} bounds {queues}: what is too many is not taken, and stays recorded and not sent"
    ),
    "doctor.policy_max_length_rejects.remedy": N_(
        "Take max-length out of it, or let its pattern leave these queues out."
    ),
    "doctor.policy_expires": N_(
        "By the policy {policy} {queues} are deleted with their messages when nobody uses them"
    ),
    "doctor.policy_expires.remedy": N_("Take expires out of it, or let its pattern leave these queues out."),
    "doctor.policy_dead_letter_exchange": N_("The policy {policy} sends what {queues} give up elsewhere"),
    "doctor.policy_dead_letter_exchange.remedy": N_(
        "Take dead-letter-exchange out of it, or see that it leads to rpa_dlx_exchange."
    ),
    "doctor.policy_alternate": N_(
        "By the policy {policy} a message that fits no queue of {exchanges} goes elsewhere, and whoever sent it is not"
        " told"
    ),
    "doctor.policy_alternate.remedy": N_(
        "Take alternate-exchange out of it, or watch the queues behind that exchange: tasks may lie there."
    ),
    "doctor.consumer_timeout": N_(
        "Tasks of type {name} may run for {span}; RabbitMQ takes a message back after half an hour"
        " unless told otherwise"
    ),
    "doctor.consumer_timeout.remedy": N_(
        "Set consumer_timeout (milliseconds) in rabbitmq.conf to half as long again; RabbitMQ does not tell what it is."
    ),
    "doctor.returns_count": N_(
        "This RabbitMQ counts every return of a message and gives it up after 20; Fleetdeck sends it again"
    ),
    "doctor.returns_count.remedy": N_(
        "Raise the limit by a policy: rabbitmqctl set_policy returns '^(rpa_tasks_|single_shop_)'"
        " '{{\"delivery-limit\": 1000}}'"
    ),
}


def _check(url: str, field: str) -> None:
    """Refuse what is no address of a broker, or of several nodes of one; it may hold a password and is not repeated.

    Raises:
        UsageError: ``field`` is where it came from; the sentence names it and shows what it should look like.
    """
    for one in addresses.each(url):
        addresses.read(one, field, SCHEMES, LIKE)
    if len(unquote(urlsplit(addresses.each(url)[0]).path[1:]).encode("utf-8", "replace")) > MOST_VHOST:
        raise UsageError(said("address.unreadable", field=field, like=LIKE), field=field)
    query = url.strip().partition("?")[2]
    secure = url.strip().startswith("amqps:")
    known = [name for name in OPTIONS if secure or name == "heartbeat"]
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in _WEAKENING:
            raise UsageError(said("address.insecure", field=field, name=name, ca="cacertfile"), field=field)
        if name not in known:
            raise UsageError(said("address.option", field=field, name=name, known=", ".join(known)), field=field)
        if name == "heartbeat" and not (re.fullmatch(r"[0-9]{1,5}", value) and int(value) <= _MOST_HEARTBEAT):
            raise UsageError(said("address.heartbeat", field=field), field=field)
        why = hosts.problem_of(value) if name == "server_name_indication" and value else ""
        if why:
            raise UsageError(said("address.host", field=f"{field} {name}", why=why, like=LIKE), field=field)


def _open(place: Place, clock: Clock, foreign: Iterable[str], _recorded: Recorded) -> Broker:
    from services.broker.rabbitmq.broker import RabbitBroker

    return RabbitBroker(
        place.url,
        clock,
        management_url=place.management_url,
        profile=place.profile,
        insecure=place.insecure_tls,
        foreign=foreign,
    )


def _ask_management(place: Place, clock: Clock) -> str:
    from services.broker.rabbitmq.management import Management
    from services.broker.rabbitmq.url import parse

    try:
        asked = Management(replace(parse(place.url), insecure=place.insecure_tls), place.management_url, clock)
    except ConsoleError as exc:
        return words_of(exc)
    try:
        if asked.totals() is None:
            return asked.problem()
        return ""
    finally:
        asked.close()


def _ask_rights(driver: Broker) -> str:
    from services.broker.rabbitmq.broker import RabbitBroker

    return driver.missing_rights() if isinstance(driver, RabbitBroker) else ""


KIND = BrokerKind(
    name="RabbitMQ",
    schemes=SCHEMES,
    secure="amqps",
    like=LIKE,
    check=_check,
    open=_open,
    ask_management=_ask_management,
    ask_rights=_ask_rights,
    sentences=SENTENCES,
)
