"""Incidents, what people did about them and messages to send, as documents of the store: what a leader decided is
written down before anything of it happens, so that the next one goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.alerts import outbox
from services.domain.alerts import rule as rules
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import HISTORY_MOST, Incident
from services.domain.alerts.judge import Changes, Notice
from services.domain.alerts.outbox import Letter
from services.domain.alerts.rule import Rule
from services.ports import Store
from services.watch.alerts.rules import DEFAULTS

HISTORY_MS = 90 * 86_400_000
NUMBERS_KEPT = 20
PREFIX = "INC-"


class Book:
    """Blocking; raises the errors of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rules(self) -> dict[str, Rule]:
        """All rules by name, as they are now; in the order of the defaults, then those that people added."""
        return rules.known(DEFAULTS, self._store.documents(rules.KIND))

    def channels(self) -> dict[str, Channel]:
        """All channels that can be read, by name."""
        return channels.readable(self._store.documents(channels.KIND))

    def incidents(self) -> list[Incident]:
        """Those that are not over, with what people did about them."""
        return incidents.going_on(self._store.documents)

    def letters(self) -> list[Letter]:
        """All messages, those that were sent a while ago too."""
        return list(outbox.DOCUMENT.readable(self._store.documents(outbox.KIND)).values())

    def commit(self, changes: Changes) -> list[Letter]:
        """Write a step down; what is to be sent, first the messages. Returns those that are new, and
        notes of what changed whether anybody is reached.
        """
        fresh, nobody = self._write_letters(changes.notices)
        for incident in changes.opened:
            body = incidents.DOCUMENT.dump(replace(incident, id=self._number(incident.key)))
            self._store.add_document(incidents.KIND, incidents.slot_of(incident.key), body)
        changes.changed = [
            replace(one, reached_nobody=nobody.get(one.id, one.reached_nobody)) for one in changes.changed
        ]
        for incident in changes.changed:
            self.put(incident)
        for incident in changes.resolved:
            self._store.put_document(incidents.HISTORY, incident.id, incidents.DOCUMENT.dump(incident))
            self._end(incident)
        for incident in changes.dropped:
            self._end(incident)
        return fresh

    def reaches(self, to: Iterable[str]) -> bool:
        """Whether there is a channel for who is named so."""
        return bool(channels.chosen(to, self.channels()))

    def _write_letters(self, notices: Sequence[Notice]) -> tuple[list[Letter], dict[str, bool]]:
        """The new ones, and by incident whether its last message reaches nobody."""
        known = self.channels() if notices else {}
        meant = [(notice, _meant(notice, known)) for notice in notices]
        wanted = [outbox.written(notice.incident, notice.told, name) for notice, names in meant for name in names]
        fresh = [one for one in wanted if self._store.add_document(outbox.KIND, one.name, outbox.DOCUMENT.dump(one))]
        return fresh, {one.incident.id: not channels.chosen(one.told.to, known) for one in notices}

    def put(self, incident: Incident) -> None:
        """Keep an incident that is not over."""
        self._store.put_document(incidents.KIND, incidents.slot_of(incident.key), incidents.DOCUMENT.dump(incident))

    def put_letter(self, letter: Letter) -> None:
        """Keep how a message stands."""
        self._store.put_document(outbox.KIND, letter.name, outbox.DOCUMENT.dump(letter))

    def prune(self, now: int) -> int:
        """Take away what nobody needs any more; how many documents."""
        gone = 0
        letters = self.letters()
        # while one of several is on its way it must be known who got it already
        kept_steps = {(one.incident, one.step) for one in letters if not outbox.forgotten(one, now)}
        for letter in letters:
            if (letter.incident, letter.step) not in kept_steps:
                gone += self._store.remove_document(outbox.KIND, letter.name)
        kept = sorted(
            incidents.readable(self._store.documents(incidents.HISTORY), {}),
            key=lambda one: one.resolved_at,
            reverse=True,
        )
        for place, incident in enumerate(kept):
            if place >= HISTORY_MOST or incident.resolved_at < now - HISTORY_MS:
                gone += self._store.remove_document(incidents.HISTORY, incident.id)
        numbers = sorted(self._numbers())
        for number in numbers[:-NUMBERS_KEPT]:
            gone += self._store.remove_document(incidents.NUMBERS, str(number))
        return gone

    def _end(self, incident: Incident) -> None:
        self._store.remove_document(incidents.KIND, incidents.slot_of(incident.key))
        self._store.remove_document(incidents.ANSWERS, incident.id)

    def _number(self, key: str) -> str:
        """An id that no other incident has; one that is given and not used is left out."""
        number = max(self._numbers(), default=0) + 1
        while not self._store.add_document(incidents.NUMBERS, str(number), f'"{incidents.slot_of(key)}"'):
            number += 1
        return f"{PREFIX}{number}"

    def _numbers(self) -> Iterable[int]:
        return [int(name) for name in self._store.documents(incidents.NUMBERS) if name.isdecimal()]


def _meant(notice: Notice, known: Mapping[str, Channel]) -> list[str]:
    """The channels of a message; of one that begins an incident for further people those that have not had it."""
    names = channels.chosen(notice.told.to, known)
    if notice.told.what != incidents.RAISED:
        return names
    earlier = [one.to for one in notice.incident.told if one.step < notice.told.step]
    had = {name for to in earlier for name in channels.chosen(to, known)}
    return [name for name in names if name not in had]
