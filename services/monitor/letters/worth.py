"""Gathers what is known about causes of dead letters, for the answer whether running their letters again would help.

A few questions for a cause, none for a single letter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.insight import cause, cause_rule, verdict
from services.domain.insight.batch import Chances
from services.domain.insight.cause import Evidence, Worth
from services.domain.insight.cause_rule import Causes
from services.domain.task import classify, ids
from services.domain.task.ledger import Done
from services.domain.task.record import Task
from services.domain.task.search.filter import is_fingerprint
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.domain.text.said import Said
from services.domain.types import task_type
from services.domain.types.schema import Problem
from services.engine.registry import Registry
from services.monitor.letters.alike import Alike, Letter
from services.monitor.letters.shown import FOLLOWED, Shown
from services.ports import Store

#: types and platforms that are asked
PLACES = 6
#: how far back a letter's own line of republishing is followed
FARTHEST = 12


class Worthiness:
    """Made for one answer: what it has asked it does not ask again. Blocking."""

    def __init__(self, store: Store, registry: Registry | None = None, shown: Shown | None = None) -> None:
        """``registry`` knows task types; without one nothing is said of them. ``shown``: what others asked before."""
        self._store, self._registry = store, registry
        self._shown = shown or Shown(store)
        self._closed: frozenset[str] | None = None
        self._logins: Mapping[str, int] = {}
        self._causes: Causes | None = None

    def of_cause(self, fingerprint: str, letters: Alike, there: tuple[Term, ...] = ()) -> Worth:
        """Whether running these letters again would help; they share one cause. ``there``: what else letters have that
        count to it.
        """
        return cause.worth(self.evidence(fingerprint, letters, there))

    def of_letter(self, task: Task) -> Worth:
        """Whether running this letter again would help, judged by all that share its cause."""
        there = self._there(task)
        others = self._others(task.fingerprint, there) if task.fingerprint else []
        alike = Alike([task, *(one for one in others if one.task_id != task.task_id)])
        seen = self.evidence(task.fingerprint, alike, there)
        problem = self.problem(task)
        tries, edited = self._tries(task)
        own = self._shown.success("shop", task.shop, task.task_type, task.ended_at)
        return cause.worth(
            replace(
                seen,
                letters=1,
                shops=1,
                closed=int(task.shop in self._shut()),
                opened=int(self._opened(task.shop, task.ended_at)),
                refused=int(problem is not None),
                refused_field=problem.path if problem is not None else "",
                # what this shop did after its own letter tells more than what others do
                success_at=seen.died_at + 1 if own > task.ended_at else seen.success_at,
                tries=tries,
                letter_edited=edited,
            )
        )

    def evidence(self, fingerprint: str, letters: Alike, there: tuple[Term, ...] = ()) -> Evidence:
        """What is known of these letters; ``there``: as of ``of_cause``."""
        newest, some, shops = letters.newest, letters.few, letters.shops
        problems = [problem for task in some if (problem := self.problem(task)) is not None]
        became = self._shown.outcomes(fingerprint, newest.error_kind, there)
        known = self._registry is None or self._registry.knows(newest.task_type)
        version = self._registry.task_type(newest.task_type).version if self._registry is not None else 0
        return Evidence(
            kind=newest.error_kind or classify.UNKNOWN,
            letters=len(letters),
            unread=ids.is_unread(newest.task_id),
            shops=len(shops),
            closed=len(shops & self._shut()),
            opened=sum(self._opened(shop, newest.ended_at) for shop in shops),
            type_known=known,
            # types of the program itself have no number
            type_before=known and (newest.type_version > 0 or version == 0),
            type_changed=version > newest.type_version > 0,
            refused=len(letters) if len(problems) == len(some) else len(problems),
            refused_field=problems[0].path if problems else "",
            died_at=newest.ended_at,
            failed_again=became.failed_again,
            edited=became.edited,
            failed_at=became.failed_at,
            failing=became.failing,
            passed=became.passed,
            passed_at=became.passed_at,
            otherwise=became.otherwise,
            older=became.older,
            success_at=self._success_since(letters, min(newest.ended_at, became.failed_at or newest.ended_at)),
        )

    def problem(self, task: Task | Letter) -> Problem | None:
        """What its type refuses of its payload now, None for nothing."""
        kind = self._registry.task_type(task.task_type) if self._registry is not None else None
        if kind is None or not kind.schema:
            return None
        try:
            payload = json.loads(task.payload)
        except ValueError:
            payload = None
        return next(iter(task_type.validate_payload(kind, payload)), None)

    def refusal(self, task: Task) -> Message | None:
        """Why republishing it with its payload would be refused by its type, None when it would not."""
        problem = self.problem(task)
        if problem is None:
            return None
        words = problem.message if isinstance(problem.message, Said) else str(problem.message)
        return Message("dead.refused_field", {"field": problem.path or "payload", "problem": words})

    def twin(self, task: Task) -> Task | None:
        """The active task with the same work, None for none."""
        return self.twins([task]).get(task.task_id)

    def twins(self, tasks: Sequence[Task]) -> dict[str, Task]:
        """By id, for those that have one: the active task with the same work. One question for all."""
        keys = {task.task_id: key for task in tasks if (key := self._uniq(task))}
        holders = self._store.holders(list(keys.values())) if keys else []
        return {one: twin for one, twin in zip(keys, holders, strict=True) if twin is not None}

    def done(self, tasks: Sequence[Task]) -> dict[str, Done]:
        """By id, for those of whose work that is known: its last success by another task. One question for all."""
        works = sorted({task.work for task in tasks} - {""})
        last = dict(zip(works, self._store.last_done(works), strict=True)) if works else {}
        found = {task.task_id: last.get(task.work) for task in tasks}
        return {one: done for one, done in found.items() if done is not None and done.task_id != one}

    def refusals(self, tasks: Sequence[Task]) -> dict[str, Message]:
        """By id, for those that cannot be republished as they are: why, in the order in which it is refused."""
        twins, found = self.twins(tasks), {}
        for task in tasks:
            why = verdict.refusal(task) or self.refusal(task)
            if why is None and (twin := twins.get(task.task_id)) is not None:
                why = Message("task.duplicate", {"id": twin.task_id, "status": twin.status})
            if why is not None:
                found[task.task_id] = why
        return found

    def chances(self, level: str, letters: Sequence[Task]) -> Chances:
        """What is likely to become of letters of a cause of which that is known; who would be refused is left out."""
        if level == cause.AGAIN:
            return Chances(again=len(letters))
        if level not in (cause.NOW, cause.LOGIN):
            return Chances(unknown=len(letters))
        refused, shut = self.refusals(letters), self._shut()
        left = [task for task in letters if task.task_id not in refused]
        login = len(left) if level == cause.LOGIN else sum(task.shop in shut for task in left)
        return Chances(passes=len(left) - login, login=login)

    def _uniq(self, task: Task) -> str:
        if self._registry is None:
            return ""
        kind = self._registry.task_type(task.task_type)
        try:
            return task_type.uniqueness_key(kind, task.platform, task.shop_id, task.payload)
        except UsageError:
            return ""

    def _shut(self) -> frozenset[str]:
        if self._closed is None:
            self._closed = frozenset(one.shop for one in self._store.sessions())
            self._logins = {shop: login.at for shop, login in self._store.logins().items()}
        return self._closed

    def _opened(self, shop: str, since_ms: int) -> bool:
        return shop not in self._shut() and self._logins.get(shop, 0) > since_ms

    def _success_since(self, letters: Alike, since: int) -> int:
        """The newest success of their types since then, in the shops of the newest of them: others on their platforms
        succeed all the time where a fault is of some shops only, and show nothing. They are asked once it has succeeded
        on the platform at all.
        """
        platforms = [("platform", platform, name) for platform, name in letters.work]
        if len(letters.shops) > 1 and not any(self._shown.success(*one, since) for one in platforms[:PLACES]):
            return 0
        work = dict.fromkeys((one.shop, one.task_type) for one in letters.few)
        return max((self._shown.success("shop", *one, since) for one in list(work)[:PLACES]), default=0)

    def _there(self, task: Task) -> tuple[Term, ...]:
        """Where letters of its fingerprint died that were not split off from its cause, or with it."""
        if self._causes is None:
            self._causes = Causes(cause_rule.read(self._store.documents(cause_rule.KIND)))
        return self._causes.there(task.fingerprint, task)

    def _others(self, fingerprint: str, there: tuple[Term, ...]) -> Sequence[Task]:
        if not is_fingerprint(fingerprint):
            return ()
        terms = (equals("fp", fingerprint), equals("status", Status.DEAD), equals("triage", Triage.OPEN), *there)
        return self._store.query(Query(terms=terms, sort="updated", limit=FOLLOWED, want_total=False)).tasks

    def _tries(self, task: Task) -> tuple[int, bool]:
        """How often the same work was republished before and died of the same, and whether its message was changed."""
        tries, parent, edited, payload = 0, task.parent, False, task.payload
        while parent and tries < FARTHEST:
            before = self._store.get([parent])[0]
            if before is None or before.fingerprint != task.fingerprint:
                break
            edited, payload = edited or before.payload != payload, before.payload
            tries, parent = tries + 1, before.parent
        return tries, edited
