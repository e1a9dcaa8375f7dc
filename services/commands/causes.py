"""What an operator may decide about a cause of dead letters as a whole: name it, ignore it for a while, lift that."""

from __future__ import annotations

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.domain.errors import UsageError
from services.domain.insight import cause_rule
from services.domain.insight.cause_rule import MAX_NAME, MAX_NOTE, CauseRule
from services.engine.lead import cause_keeper
from services.engine.steps import Steps
from services.ports import Store

LONGEST_S = 366 * 86_400


class CauseCommands:
    """Audited commands on causes; ``cause`` is a fingerprint."""

    def __init__(self, store: Store, steps: Steps, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._audit, self._operator = store, steps, audit, operator

    def describe(self, cause: str, *, name: str, note: str) -> None:
        """Give a cause a name and a note; empty ones take them away.

        Raises:
            UsageError: one of them is too long.
        """
        self._audit.need(self._operator, "operator", "cause.describe", [cause])
        for field, words, most in (("name", name, MAX_NAME), ("note", note, MAX_NOTE)):
            if len(words) > most:
                raise UsageError(f"{field} may have {most} characters, not {len(words)}", field=field)
        rule = self._rule(cause)
        with self._audit.act("cause.describe", [cause], {"name": name, "note": note}):
            self._put(cause, msgspec.structs.replace(rule, name=name.strip(), note=note.strip()))

    def ignore(self, cause: str, *, seconds: int = 0) -> Outcome:
        """Ignore its letters and what dies of it from now on: for some seconds, or until its text changes (0).

        Raises:
            UsageError: the time is negative or longer than a year.
        """
        self._audit.need(self._operator, "operator", "cause.ignore", [cause])
        if not 0 <= seconds <= LONGEST_S:
            raise UsageError(f"a cause can be ignored for 0 to {LONGEST_S} seconds, not {seconds}", field="seconds")
        now = self._store.now_ms()
        until = now + seconds * 1000 if seconds else cause_rule.FOREVER
        rule = msgspec.structs.replace(self._rule(cause), ignored=True, until=until, by=self._operator.who, at=now)
        with self._audit.act("cause.ignore", [cause], {"until": until}) as act:
            self._put(cause, rule)
            done = cause_keeper.ignore(self._store, self._steps, cause, rule)
            act.counted(len(done), 0)
        return Outcome(done=done)

    def lift(self, cause: str) -> Outcome:
        """Ignore it no longer; the letters that the rule has ignored are open again."""
        self._audit.need(self._operator, "operator", "cause.lift", [cause])
        rule = self._rule(cause)
        with self._audit.act("cause.lift", [cause]) as act:
            self._put(cause, msgspec.structs.replace(rule, ignored=False))
            done = cause_keeper.reopen(self._store, self._steps, cause, rule)
            act.counted(len(done), 0)
        return Outcome(done=done)

    def _rule(self, cause: str) -> CauseRule:
        body = self._store.documents(cause_rule.KIND).get(cause_rule.check_fingerprint(cause), "")
        return cause_rule.parse(body)

    def _put(self, cause: str, rule: CauseRule) -> None:
        self._store.put_document(cause_rule.KIND, cause, cause_rule.dump(rule))
