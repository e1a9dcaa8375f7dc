"""Incidents, messages and channels as the process that leads would have written them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.alerts import outbox
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import Answer, Incident, Line, Told, Words
from services.domain.alerts.outbox import Letter
from services.domain.insight import cause
from services.domain.text.message import Message
from services.ports import Store
from services.watch.alerts.rules import DEFAULTS

MINUTE = 60_000
RULES = {one.name: one for one in DEFAULTS}


class Alerts:
    """Writes them into a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.now = store, store.now_ms()
        self._number = 2040

    def watch(self) -> None:
        """Somebody watches."""
        assert self.store.lead(incidents.ROLE, "w1", 600_000)

    def channel(self, name: str, **fields: Any) -> Channel:
        """A channel."""
        made = Channel(name=name, **fields)
        self.store.put_document(channels.KIND, name, channels.DOCUMENT.dump(made))
        return made

    def raised(self, rule: str, words: Words, *, minutes: float, key: str = "", **fields: Any) -> Incident:
        """An incident that was told ``minutes`` ago; ``answer`` is what people did."""
        self._number += 1
        at = self.now - round(minutes * MINUTE)
        answer = fields.pop("answer", Answer())
        base = Incident(
            id=f"INC-{self._number}",
            key=key or f"{rule}:{self._number}",
            rule=RULES[rule],
            sources=(rule,),
            words=words,
            first_at=at - RULES[rule].for_s * 1000,
            raised_at=at,
            told_at=at,
            step=1,
            grew=1,
            told=(Told(step=1, what="raised", at=at, to=("duty",)),),
            lines=(Line(at=at, message=Message("alert.line_raised", {})),),
        )
        made = replace(base, **fields)
        kind = incidents.HISTORY if made.resolved_at else incidents.KIND
        name = made.id if made.resolved_at else incidents.slot_of(made.key)
        self.store.put_document(kind, name, incidents.DOCUMENT.dump(made))
        if answer != Answer():
            self.store.put_document(incidents.ANSWERS, made.id, incidents.DOCUMENT.dump(answer))
        return made

    def letter(self, incident: Incident, channel: str, **fields: Any) -> Letter:
        """A message of its newest step."""
        made = replace(outbox.written(incident, incident.told[-1], channel), **fields)
        self.store.put_document(outbox.KIND, made.name, outbox.DOCUMENT.dump(made))
        return made

    def login(self, *, minutes: float = 34.0, shops: int = 9, **fields: Any) -> Incident:
        """Shops that must be logged in again."""
        words = Words(
            title=Message("alert.login", {"n": shops}),
            facts=(Message("alert.fact_waiting", {"n": 58}),),
            next=Message("alert.next_login"),
        )
        given: dict[str, Any] = {"key": "cause:login_expired", "count": shops, "worst": shops, "scope": "gate:session"}
        return self.raised("needs_login", words, minutes=minutes, **(given | fields))

    def dead(self, *, minutes: float = 20.0, **fields: Any) -> Incident:
        """Dead letters of one cause."""
        words = Words(
            title=Message("alert.dead", {"n": 34, "shops": 14}),
            facts=(Message("alert.fact_platforms", {"platforms": "temu", "types": "sync_order"}),),
            cause=cause.title("element_not_found", [".order-list__row"]),
            next=Message("alert.next_pause_type", {"name": "sync_order"}),
        )
        given: dict[str, Any] = {
            "key": "cause:element_not_found:sync_order", "count": 14, "worst": 14, "of": 15,
            "names": ("Lumo Home", "Velia Beauty"), "scope": "status:dead triage:open kind:element_not_found",
            "pause": "type:sync_order",
        }  # fmt: skip
        return self.raised("dead_letters", words, minutes=minutes, **(given | fields))

    def silent(self, *, minutes: float = 2.0, **fields: Any) -> Incident:
        """A worker that is not heard of."""
        words = Words(
            title=Message("alert.silent", {"n": 1, "worker": "desk-06", "machine": "desk-06"}),
            facts=(Message("alert.fact_unconfirmed", {"n": 7}),),
            next=Message("alert.next_silent", {"machine": "desk-06"}),
        )
        return self.raised("silent_worker", words, minutes=minutes, **({"names": ("desk-06",)} | fields))

    def promise(self, *, minutes: float = 5.0, **fields: Any) -> Incident:
        """A promise that is broken."""
        title = Message("alert.promise_broken", {"name": "orders", "n": 2, "total": 15, "from_at": self.now})
        words = Words(title=title, next=Message("alert.next_promise", {"name": "orders"}))
        given: dict[str, Any] = {"key": "promise:orders", "count": 2, "of": 15, "scope": "type:sync_order"}
        return self.raised("promise_broken", words, minutes=minutes, **(given | fields))

    def lane(self, *, minutes: float = 8.0, **fields: Any) -> Incident:
        """A task that waits for too long."""
        words = Words(
            title=Message("alert.oldest_wait", {"lane": "high", "seconds": 370}), next=Message("alert.next_wait")
        )
        return self.raised("oldest_wait", words, minutes=minutes, **({"scope": "lane:high status:queued"} | fields))
