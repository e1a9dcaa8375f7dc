"""Keeps the rules about causes: what dies of an ignored cause is ignored, and comes back when the rule ends."""

from __future__ import annotations

import logging

import msgspec

from services.domain.change import Op, SetTriage
from services.domain.insight import cause_rule
from services.domain.insight.cause_rule import CauseRule
from services.domain.task.record import Task
from services.domain.task.search.query import Query, each, equals
from services.domain.task.status import Status, Triage
from services.engine.lead.duty import Seldom
from services.engine.steps import Steps
from services.ports import Clock, Store

log = logging.getLogger(__name__)
LOOK_S = 5.0
PAGE = 500


class CauseKeeper:
    """One ``tick`` looks at every rule; the leader calls it about once a second."""

    def __init__(self, store: Store, steps: Steps, clock: Clock) -> None:
        self._store, self._steps = store, steps
        self._seldom = Seldom(clock, LOOK_S)

    def tick(self) -> None:
        """Look when it is time; raises only the errors of the store."""
        if not self._seldom.due():
            return
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        for fingerprint, rule in rules.items():
            if rule.holds(self._store.now_ms()):
                if cause_rule.root(fingerprint, rules) != fingerprint:
                    continue  # what was merged goes by the rule of what it counts to, which people see
                ignore(self._store, self._steps, fingerprint, rule)
            elif rule.over(self._store.now_ms()):
                back = reopen(self._store, self._steps, fingerprint, rule)
                # a person may have decided otherwise meanwhile
                if cause_rule.parse(self._store.documents(cause_rule.KIND).get(fingerprint, "")) == rule:
                    ended = msgspec.structs.replace(rule, ignored=False)
                    self._store.put_document(cause_rule.KIND, fingerprint, cause_rule.DOCUMENT.dump(ended))
                log.info("cause %s is ignored no more, %d letters are open again", fingerprint, len(back))


def ignore(store: Store, steps: Steps, fingerprint: str, rule: CauseRule) -> tuple[str, ...]:
    """Ignore the open letters of a cause; one that a person has reopened since the rule began stays open."""
    letters = _letters(store, fingerprint, Triage.OPEN)
    return _set(steps, [task for task in letters if task.triage_note != rule.mark], Triage.IGNORED, rule)


def renew(store: Store, steps: Steps, fingerprint: str, before: CauseRule, rule: CauseRule) -> None:
    """Let what was ignored by the rule before come back when the new one ends."""
    letters = _letters(store, fingerprint, Triage.IGNORED)
    _set(steps, [task for task in letters if task.triage_note == before.mark], Triage.IGNORED, rule)


def reopen(store: Store, steps: Steps, fingerprint: str, rule: CauseRule) -> tuple[str, ...]:
    """Open what this rule has ignored of the cause and what it counts to; what a person has ignored stays so."""
    letters = _letters(store, fingerprint, Triage.IGNORED)
    return _set(steps, [task for task in letters if task.triage_note == rule.mark], Triage.OPEN, rule)


def _letters(store: Store, fingerprint: str, triage: str) -> list[Task]:
    rules = cause_rule.read(store.documents(cause_rule.KIND))
    causes, main = cause_rule.Causes(rules), cause_rule.root(fingerprint, rules)
    terms = (equals("status", Status.DEAD), equals("triage", triage), equals("fp", *causes.prints(main)))
    letters = each(store.query, Query(terms=terms, limit=PAGE, want_total=False))
    return [task for task in letters if causes.of(task.fingerprint, task) == main]


def _set(steps: Steps, letters: list[Task], triage: str, rule: CauseRule) -> tuple[str, ...]:
    done: list[str] = []
    for start in range(0, len(letters), 200):
        some = letters[start : start + 200]
        ops: list[Op] = [SetTriage(task_id=one.task_id, triage=triage, by=rule.by, note=rule.mark) for one in some]
        answers = steps.apply(ops)
        done += [one.task_id for one, answer in zip(some, answers, strict=True) if answer.code == "ok"]
    return tuple(done)
