"""Does what people decided about causes: parks their shops, lets their letters run again. Whoever leads does it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from services.domain.errors import OperatorError
from services.domain.insight import cause_rule, known_issue, verdict
from services.domain.insight.cause_rule import CauseRule
from services.domain.insight.known_issue import IssueState
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status, Triage
from services.engine.lead.duty import Rounds
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

    def pause(self, fingerprint: str, shop: str, reason: str) -> None:
        """Pause a shop (``platform:shop_id``)."""

    def resume(self, fingerprint: str, shop: str, note: str) -> None:
        """Let it go on."""

    def republish(self, fingerprint: str, task_ids: Sequence[str], reason: str) -> int:
        """Run letters again; how many do."""


class IssueKeeper:
    """Started and stopped with the leadership. What was done stands in the store, so the next leader does it once."""

    def __init__(self, store: Store, acts: Acts, clock: Clock, name: str) -> None:
        self._store, self._acts = store, acts
        self._duty = Rounds(self.tick, EVERY_S, clock, f"{name}-issues", log=log, waits="known issues wait")

    def start(self) -> None:
        """Begin."""
        self._duty.start()

    def stop(self) -> None:
        """Stop after the present round."""
        self._duty.stop()

    def tick(self) -> None:
        """Do what is due now.

        Raises:
            StoreUnavailable: nothing can be read or recorded now.
        """
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        states = self._store.documents(known_issue.STATE)
        for name in rules.keys() | states.keys():
            if self._duty.stopped:
                return
            rule = rules.get(name, CauseRule())
            if rule.park_s or rule.retry_at or name in states:
                self._keep(name, rule, _state(states.get(name)), rules)

    def _keep(self, name: str, rule: CauseRule, state: IssueState, rules: Mapping[str, CauseRule]) -> None:
        letters = self._letters(name, rules) if rule.park_s or rule.retry_at else []
        paused = {
            one.scope.removeprefix("shop:"): one.by for one in self._store.pauses() if one.scope.startswith("shop:")
        }
        now, zone = self._store.now_ms(), fleet_zone(self._store) or DEFAULT_ZONE
        wanted = known_issue.decide(
            rule, state, [(one.shop, one.ended_at) for one in letters], paused, now, zone, self._acts.who(name)
        )
        reason = rule.name or name
        try:
            for shop in wanted.park:
                self._acts.pause(name, shop, reason)
            for shop in wanted.release:
                self._acts.resume(name, shop, reason)
            if wanted.due_at:
                self._retry(name, [one for one in letters if one.ended_at <= wanted.due_at], reason)
        except OperatorError as exc:  # a shop that is none any more; the others must go on
            log.warning("known issue %s: %s", name, exc)
        if wanted.after.parked or (rule.known and wanted.after != IssueState()):
            if wanted.after != state:
                self._store.put_document(known_issue.STATE, name, known_issue.dump(wanted.after))
        elif state != IssueState():
            self._store.remove_document(known_issue.STATE, name)

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
            number += self._acts.republish(name, safe[start : start + PORTION], reason)
        log.info("known issue %s: %d of %d letters run again", name, number, len(letters))

    def _letters(self, name: str, rules: Mapping[str, CauseRule]) -> list[Task]:
        causes = cause_rule.Causes(rules)
        terms = (equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("fp", *causes.prints(name)))
        found: list[Task] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < MOST:
            page = self._store.query(Query(terms=terms, limit=PAGE, cursor=cursor, want_total=False))
            found += [task for task in page.tasks if causes.of(task.fingerprint, task) == name]
            cursor = page.next
        return found


def _state(body: str | None) -> IssueState:
    try:
        return known_issue.load(body) if body is not None else IssueState()
    except (ValueError, RecursionError):
        return IssueState()
