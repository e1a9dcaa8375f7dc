"""A store that answers and takes no writes, so that nothing starts and nobody can show that he lives; one that has
lost its records.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.domain.task.record import LIFE
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.store_refuses": Words(
        N_("The store takes no writes: nothing new starts, and nothing can be changed"),
        N_("What is shown is true; everything goes on by itself once something is written again"),
    ),
    "attention.store_lost": Words(
        N_("The store has lost its records, or is another one than before"),
        N_("Put its backup back, or shops, types and schedules again"),
    ),
}
#: for so long it is told after it was noticed
TOLD_MS = 24 * 3_600_000


def items(look: Look) -> Iterable[Attention]:
    """Why it takes none; that records were lost, for a day."""
    if why := look.snapshot.no_writes:
        yield Attention(
            key="store_refuses",
            severity="dead",
            code="attention.store_refuses",
            facts=(Message("publisher.lost", {"why": why}),),
            verbs=(("copy_server", ""),),
        )
    noticed = [at for body in look.store.documents(LIFE).values() if (at := _noticed(body)) is not None]
    if noticed and look.now_ms - max(noticed) < TOLD_MS:
        held = look.number(Status.HELD)
        yield Attention(
            key="store_lost",
            severity="dead",
            code="attention.store_lost",
            params={"tasks": held},
            facts=(Message("store.gone"), *((Message("store.held", {"n": held}),) if held else ())),
            since_ms=max(noticed),
            verbs=(("open_tasks", filter.format_terms((equals("status", Status.HELD),))),) if held else (),
        )


def _noticed(body: str) -> int | None:
    try:
        return msgspec.json.decode(body, type=dict[str, int]).get("noticed")
    except msgspec.MsgspecError:
        return None
