"""What others that ran since have shown, as causes of dead letters ask for it: successes, and what became of letters
that were republished. Asked once, and kept up to date by what events tell.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.domain.task.event import Event
from services.domain.task.record import Task
from services.domain.task.search.filter import is_fingerprint
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import ACTIVE, TERMINAL, Status, Triage
from services.ports import Store

#: republished letters of a cause that are followed
FOLLOWED = 60
#: newest successes that are looked at before one is asked for by its place
NEWEST = 1_000
#: fingerprint and kind, and where they died
_Letters = tuple[str, str, tuple[Term, ...]]


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Of republished letters: how many died of the same again, how many of these with another message, and when last;
    how many run again and failed of that kind so far, how many succeeded and when; how many died of something else or
    were cancelled. Instants are UTC ms, 0 for none.
    """

    failed_again: int = 0
    edited: int = 0
    failed_at: int = 0
    failing: int = 0
    passed: int = 0
    passed_at: int = 0
    otherwise: int = 0
    older: bool = False  #: there are others, republished before these


class Shown:
    """Blocking."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: by field, value and type: the newest that is known, and since when there is no other
        self._successes: dict[tuple[str, str, str], tuple[int, int]] = {}
        self._outcomes: dict[_Letters, Outcomes] = {}
        self._followed: dict[str, set[_Letters]] = {}  #: by task: whose outcomes it is one of

    def look(self) -> None:
        """Note the newest successes of all: most of what is asked for is among them."""
        if not self._successes:
            query = Query(terms=(equals("status", Status.SUCCEEDED),), sort="updated", limit=NEWEST, want_total=False)
            for task in self._store.query(query).tasks:
                self._note(task.platform, task.shop, task.task_type, task.ended_at)

    def success(self, field: str, value: str, task_type: str, since: int) -> int:
        """The end of the newest success of a type in a shop or on a platform; 0 where none ended after ``since``."""
        at, told = self._successes.get((field, value, task_type), (0, since + 1))
        if not at and told > since:
            terms = (equals("status", Status.SUCCEEDED), equals(field, value), equals("type", task_type))
            later = Term(field="updated", op=">=", number=since)
            page = self._store.query(Query(terms=(*terms, later), sort="updated", limit=1, want_total=False))
            at = page.tasks[0].ended_at if page.tasks else 0
            self._successes[field, value, task_type] = at, since
        return at

    def outcomes(self, fingerprint: str, kind: str, there: tuple[Term, ...] = ()) -> Outcomes:
        """What became of the letters of a cause that were republished; ``there``: of those that died there."""
        if not is_fingerprint(fingerprint):
            return Outcomes()
        letters = fingerprint, kind, there
        if letters not in self._outcomes:
            self._outcomes[letters] = self._ask(letters)
        return self._outcomes[letters]

    def heard(self, events: Iterable[Event]) -> None:
        """Take in what happened since it was asked."""
        for event in events:
            if event.to == Status.SUCCEEDED:
                shop = f"{event.platform}:{event.shop_id}"
                self._note(event.platform, shop, event.task_type, event.at)
            for one in self._followed.pop(event.task_id, ()):
                self._outcomes.pop(one, None)

    def changed(self, task: Task) -> None:
        """A dead letter became what it is now."""
        for one in [known for known in self._outcomes if known[0] == task.fingerprint]:
            del self._outcomes[one]

    def _note(self, platform: str, shop: str, task_type: str, at: int) -> None:
        for key in (("platform", platform, task_type), ("shop", shop, task_type)):
            known, since = self._successes.get(key, (0, 0))
            self._successes[key] = max(known, at), since

    def _ask(self, letters: _Letters) -> Outcomes:
        fingerprint, kind, there = letters
        terms = (equals("fp", fingerprint), equals("triage", Triage.REPUBLISHED), *there)
        page = self._store.query(Query(terms=terms, sort="updated", limit=FOLLOWED, want_total=False))
        names = [task.successor for task in page.tasks if task.successor]
        for one in (*names, *(task.task_id for task in page.tasks)):
            self._followed.setdefault(one, set()).add(letters)
        after = [task for task in self._store.get(names) if task is not None] if names else []
        died = [task for task in after if task.status == Status.DEAD and task.fingerprint == fingerprint]
        before = {task.successor: task.payload for task in page.tasks}
        well = [task.ended_at for task in after if task.status == Status.SUCCEEDED]
        return Outcomes(
            failed_again=len(died),
            edited=sum(task.payload != before.get(task.task_id, task.payload) for task in died),
            failed_at=max((task.ended_at for task in died), default=0),
            failing=sum(
                task.status in ACTIVE and bool(task.attempts) and task.attempts[-1].error_kind == kind for task in after
            ),
            passed=len(well),
            passed_at=max(well, default=0),
            otherwise=sum(task.status in TERMINAL for task in after) - len(died) - len(well),
            older=page.next is not None,
        )
