"""Does what people decided about causes: parks their shops, lets their letters run again. Whoever leads does it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from services.domain.errors import OperatorError
from services.domain.insight import cause_rule, known_issue, verdict
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.known_issue import IssueState, Wanted
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals, pages
from services.domain.task.status import Status, Triage
from services.engine.lead.duty import OnDuty, Rounds
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.ports import Clock, Store

log = logging.getLogger(__name__)
EVERY_S = 5.0
PAGE, MOST = 500, 5_000
PORTION = 200


class Acts(Protocol):
    """What is done in the name of a rule, each with its entry in the audit."""

    def who(self, fingerprint: str) -> str:
        """Whose act it is."""

    def pause(self, fingerprint: str, shop: str, reason: str, instead: str) -> None:
        """Pause a shop (``platform:shop_id``) that ``instead`` has paused, "" for nobody; refused where it is not so
        any more.
        """

    def resume(self, fingerprint: str, shop: str, note: str) -> None:
        """Let it go on."""

    def republish(self, fingerprint: str, task_ids: Sequence[str], reason: str) -> int:
        """Run letters again; how many do."""


class IssueKeeper(OnDuty):
    """Started and stopped with the leadership. What was done stands in the store, so the next leader does it once."""

    def __init__(self, store: Store, acts: Acts, clock: Clock, name: str) -> None:
        self._store, self._acts = store, acts
        self._duty = Rounds(self.tick, EVERY_S, clock, f"{name}-issues", log=log, waits="known issues wait")

    def tick(self) -> None:
        """Do what is due now.

        Raises:
            StoreUnavailable: nothing can be read or recorded now.
        """
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        states = self._store.documents(known_issue.STATE)
        plans = [
            _Plan(name, rule, known_issue.readable(states.get(name)), self._letters(name, rules) if rule.acts else ())
            for name in sorted(rules.keys() | states.keys())
            for rule in [_own(name, rules)]
            if rule.acts or name in states
        ]
        # only now: a person may have paused a shop, or let one go, while the letters of all were read
        paused = {
            one.scope.removeprefix("shop:"): one.by for one in self._store.pauses() if one.scope.startswith("shop:")
        }
        ours = self._acts.who("")
        strays = {by.removeprefix(ours) for by in paused.values() if by.startswith(ours)}
        strays -= {plan.name for plan in plans}
        plans += [_Plan(name, _own(name, rules), IssueState(), ()) for name in sorted(strays)]
        now, zone = self._store.now_ms(), fleet_zone(self._store) or DEFAULT_ZONE
        # for whichever rule it was parked: a person has let it go on
        freed = {shop for plan in plans for shop, one in plan.state.parked.items() if one.on} - paused.keys()

        def decide(plan: _Plan, paused: Mapping[str, str]) -> Wanted:
            mark = self._acts.who(plan.name)
            return known_issue.decide(plan.rule, plan.state, plan.deaths, paused, now, zone, mark, freed)

        # a shop that one rule lets go and another one wants stays paused, now in the name of that one
        free = {shop: plan.name for plan in plans for shop in decide(plan, paused).release}
        done: list[tuple[_Plan, Wanted]] = []
        for plan in plans:
            if self._duty.stopped:
                return
            seen = {shop: by for shop, by in paused.items() if free.get(shop, plan.name) == plan.name}
            wanted = decide(plan, seen)
            for shop in wanted.park:
                free.pop(shop, None)
                if self._pause(plan, shop, paused.get(shop, "")):
                    paused[shop] = self._acts.who(plan.name)
                else:
                    wanted.after.parked[shop] = msgspec.structs.replace(wanted.after.parked[shop], on=False)
            done.append((plan, wanted))
        for plan, wanted in done:
            if self._duty.stopped:
                return
            self._finish(plan, wanted, [one for one in wanted.release if paused[one] == self._acts.who(plan.name)])

    def _pause(self, plan: _Plan, shop: str, instead: str) -> bool:
        """Whether it could be; one that is no shop, or that a person has paused or let go just now, must hold up no
        other, nor be tried again before its next letter.
        """
        try:
            self._acts.pause(plan.name, shop, plan.reason, instead)
        except OperatorError as exc:
            log.warning("known issue %s: %s", plan.name, exc)
            return False
        return True

    def _finish(self, plan: _Plan, wanted: Wanted, release: Sequence[str]) -> None:
        for shop in release:
            try:
                self._acts.resume(plan.name, shop, plan.reason)
            except OperatorError as exc:  # a person was faster
                log.warning("known issue %s: %s", plan.name, exc)
        if wanted.due_at:
            self._retry(plan.name, [one for one in plan.letters if one.ended_at <= wanted.due_at], plan.reason)
        if wanted.after.parked or (plan.rule.known and wanted.after != IssueState()):
            if wanted.after != plan.state:
                self._store.put_document(known_issue.STATE, plan.name, known_issue.DOCUMENT.dump(wanted.after))
        elif plan.state != IssueState():
            self._store.remove_document(known_issue.STATE, plan.name)

    def _retry(self, name: str, letters: Sequence[Task], reason: str) -> None:
        """Those whose work can surely be done again."""
        works = sorted({one.work for one in letters} - {""})
        done = dict(zip(works, self._store.last_done(works), strict=True)) if works else {}
        now = self._store.now_ms()
        safe = [
            one.task_id
            for one in letters
            if verdict.safe_to_run_again(one, None, done.get(one.work), now).level == verdict.SAFE
        ]
        number = 0
        for start in range(0, len(safe), PORTION):
            try:
                number += self._acts.republish(name, safe[start : start + PORTION], reason)
            except OperatorError as exc:  # the other rules go on
                log.warning("known issue %s: %s", name, exc)
        log.info("known issue %s: %d of %d letters run again", name, number, len(letters))

    def _letters(self, name: str, rules: Mapping[str, CauseRule]) -> list[Task]:
        causes = cause_rule.Causes(rules)
        terms = (equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("fp", *causes.prints(name)))
        found: list[Task] = []
        for page in pages(self._store.query, Query(terms=terms, limit=PAGE, want_total=False)):
            found += [task for task in page.tasks if causes.of(task.fingerprint, task) == name]
            if len(found) >= MOST:
                break
        return found


class _Plan(msgspec.Struct, frozen=True):
    """A rule with what was done by it and its open letters."""

    name: str
    rule: CauseRule
    state: IssueState
    letters: Sequence[Task]

    @property
    def deaths(self) -> list[tuple[str, int]]:
        return [(one.shop, one.ended_at) for one in self.letters]

    @property
    def reason(self) -> str:
        return self.rule.name or self.name


def _own(name: str, rules: Mapping[str, CauseRule]) -> CauseRule:
    """The rule of a cause; what was merged is done by the rule of what it counts to."""
    return rules.get(name, CauseRule()) if cause_rule.root(name, rules) == name else CauseRule()
