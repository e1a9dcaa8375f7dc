"""Pauses of more than one shop; those of one are seen in the heat map."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.fleet.shop import SCOPE_ALL
from services.domain.insight.gates import PAUSED
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.paused_all": Words(N_("Everything is paused"), N_("{waiting_n} waiting; paused by {who}")),
    "attention.paused_platform": Words(N_("{platform} is paused"), N_("{waiting_n} waiting; paused by {who}")),
    "attention.paused_type": Words(N_("{type} is paused"), N_("{waiting_n} waiting; paused by {who}")),
}
#: with a note: that comes first, for it says what is to be done before the pause ends
WORDS |= {
    f"{code}_noted": Words(words.title, N_("“{reason}” ({who}); {waiting_n} waiting"))
    for code, words in list(WORDS.items())
}


def items(look: Look) -> Iterable[Attention]:
    """One item a pause."""
    for pause in look.snapshot.pauses:
        if pause.gate != PAUSED:  # what opens by itself needs nobody
            continue
        what, _, which = pause.scope.partition(":")
        if what != "shop":
            where = () if pause.scope == SCOPE_ALL else (equals(what, which),)
            list_ = filter.format_terms((equals("gate", PAUSED), *where))
            waiting = look.at_gate(PAUSED, *where)
            yield Attention(
                key=f"paused:{pause.scope}",
                severity="paused",
                code=f"attention.paused_{what}" + ("_noted" if pause.reason else ""),
                params={
                    "type": which,
                    "platform": which,
                    "who": pause.by,
                    "reason": pause.reason,
                    "waiting": waiting.number,
                },
                facts=look.counted(waiting),
                since_ms=pause.at,
                verbs=(("resume", pause.scope), ("open_tasks", list_)),
            )
