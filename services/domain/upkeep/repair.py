"""What a repair did, would do, or cannot do: values and their sentences."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_

DONE, PLANNED, LEFT, UNSEEN = "done", "planned", "left", "unseen"
STATES = (LEFT, PLANNED, DONE, UNSEEN)

SENTENCES: dict[str, str] = {
    "repair.declared": N_("Missing at the broker: {names}"),
    "repair.bindings": N_("What is needed at the broker: declared again, which changes nothing that is right"),
    "repair.unseen": N_(
        "What leads to the queues is shown by the management API alone, which does not answer: a repair declares it"
        " again in any case, which changes nothing that is right"
    ),
    "repair.topology": N_("Something exists with other arguments and is left as it is: {error}"),
    "repair.broker_gone": N_("The broker does not answer, its part is left: {error}"),
    "repair.shop_queue": N_("The queue of shop {shop} is missing"),
    "repair.outbox": N_("Messages that wait to be sent for more than half a minute: {tasks}"),
    "repair.due": N_("Tasks that are due and that no message brings: {tasks}"),
    "repair.lost": N_("Tasks recorded as running whose worker is gone: {tasks}"),
    "repair.parked": N_("Tasks parked at a gate that is open: {tasks}"),
    "repair.parked_shops": N_("Shops with parked tasks, to be looked at: {shops}"),
    "repair.untold": N_("Ended tasks whose dependants were not all told: {tasks}"),
    "repair.links": N_("Tasks whose dependencies are noted wrongly: {tasks} ({where})"),
    "repair.link": N_("Dependencies noted for tasks that wait for nobody: {count} ({where})"),
    "repair.limit": N_("Limits whose running tasks are counted wrongly: {count} ({where})"),
    "repair.waiting": N_("Parked tasks that their limit has forgotten, by shop and type: {count} ({where})"),
    "repair.ledger": N_("Works whose last ends are not noted as their records tell: {count} ({where})"),
    "repair.executed": N_("Tasks of the last hour without their mark for other programs: {tasks}"),
    "repair.index": N_("Tasks that an index does not know, or knows wrongly: {count} ({where})"),
    "repair.counter": N_("Counters that differ from the records: {count} ({where})"),
    "repair.counter_moving": N_(
        "Counters that cannot be told while tasks move: {count} ({where}); repair again when it is quiet"
    ),
    "repair.reservation": N_("Places of shops that are kept for nobody: {count} ({where})"),
    "repair.unreadable": N_("Cannot be read, its bytes are set aside: {what} ({why})"),
    "repair.unreadable_moved": N_("Cannot be read, and changed meanwhile; repair again: {what} ({why})"),
    "repair.admin": N_("Nobody was admin any more, so nobody could give a role: {who} is it again"),
    "repair.letters": N_("Dead letters without their message, which their records give: {tasks} ({where})"),
    "repair.no_letter": N_("Dead letters without their original message: {tasks} ({where}); try --from-stream"),
    "repair.held": N_("Held tasks, which only a person can decide about: {tasks}"),
    "repair.stream_letters": N_("Messages of known dead letters, from the second copy: {tasks} ({where})"),
    "repair.stream_records": N_("Dead letters that the store had lost, from the second copy: {tasks} ({where})"),
    "repair.stream_read": N_("Messages read of the second copy: {messages}"),
    "repair.no_stream": N_("There is no second copy of dead letters here: it needs RabbitMQ 3.9 or newer"),
}

#: is told at which step it is, of how many
Told = Callable[[int, int], object]


def unheard(_at: int, _of: int) -> None:
    """Where nobody waits for it."""


class Mend(msgspec.Struct, frozen=True, kw_only=True):
    """One thing: done, planned (``--dry-run``), left for a person, or nothing that anybody knows to be wrong."""

    state: str
    message: Message


def mend(state: str, code: str, **params: Param) -> Mend:
    """A thing by its code."""
    return Mend(state=state, message=Message(code, params))
