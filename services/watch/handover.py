"""Sends the page for who takes over at its times: whoever leads writes it down, and who watches sends it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from services.domain.alerts import channel as channels
from services.domain.alerts import outbox
from services.domain.alerts.incident import Words
from services.domain.plans import handover as plans
from services.domain.plans.handover import KIND, PLAN, SENT, HandoverSent
from services.domain.text.message import Message
from services.engine.lead.duty import OnDuty, Rounds
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.alerts.wording import LANGUAGES
from services.monitor.handover import Handover, plain
from services.ports import Clock, Store

log = logging.getLogger(__name__)
EVERY_S = 10.0
#: so much of a page goes into a message
MOST_TEXT = 8_000
#: writes the page: since when, in which language, until when
Page = Callable[[int, str, int], Handover]


class HandoverKeeper(OnDuty):
    """Started and stopped with the leadership. What was sent stands in the store, so the next leader sends nothing
    twice.
    """

    def __init__(self, store: Store, page: Page, clock: Clock, name: str) -> None:
        self._store, self._page = store, page
        self._duty = Rounds(self.tick, EVERY_S, clock, f"{name}-handover", log=log, waits="the handover waits")

    def tick(self) -> int:
        """Write down what is due now; to how many channels.

        Raises:
            StoreUnavailable: nothing can be read or recorded now.
        """
        stored = self._store.documents(KIND)
        plan = plans.DOCUMENT.read(stored.get(PLAN), None)
        if plan is None:
            return 0
        found = plans.due(plan, fleet_zone(self._store) or DEFAULT_ZONE, self._store.now_ms())
        if found is None or plans.LAST.read(stored.get(SENT), HandoverSent()).due >= found[0]:
            return 0
        at, before = found
        written = write(self._store, self._page, plan.to, before, at)
        self._store.put_document(KIND, SENT, plans.LAST.dump(HandoverSent(due=at)))
        return len(written)


def write(store: Store, page: Page, to: Sequence[str], since: int, until: int) -> list[str]:
    """Put the page into the outbox, for each channel in its language; their names. The same page is written once.

    Raises:
        StoreUnavailable: the records do not answer.
    """
    known = channels.readable(store.documents(channels.KIND))
    names = channels.chosen(to, known)
    pages: dict[str, Handover] = {}
    now = store.now_ms()
    for name in names:
        language = LANGUAGES.get(known[name].language, "en")
        if language not in pages:
            pages[language] = page(since, language, until)
        title, *lines = plain(pages[language])
        body = "\n".join(lines).strip()
        text = body if len(body) <= MOST_TEXT else body[: MOST_TEXT - 1] + "…"
        letter = outbox.Letter(
            incident=f"{outbox.HANDOVER}-{until}",
            step=0,
            what=outbox.HANDOVER,
            channel=name,
            severity="note",
            rule=outbox.HANDOVER,
            words=Words(title=Message("handover.sent", {"title": title, "text": text})),
            first_at=since,
            at=now,
            due_at=now,
        )
        store.add_document(outbox.KIND, letter.name, outbox.DOCUMENT.dump(letter))
    return names
