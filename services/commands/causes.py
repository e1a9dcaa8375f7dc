"""What an operator may decide about a cause of dead letters as a whole: name it, ignore it for a while, say what is
done about it by itself, merge it into another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.domain.alerts import channel as channels
from services.domain.errors import UsageError
from services.domain.insight import cause_rule, known_issue
from services.domain.insight.cause_rule import MAX_NAME, MAX_NOTE, CauseRule
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status, Triage
from services.domain.text.said import said
from services.engine.lead import cause_keeper
from services.engine.steps import Steps
from services.i18n import N_
from services.ports import Store
from services.rewrite import rewrite

LONGEST_S = 366 * 86_400
V = TypeVar("V")


class CauseChanged(UsageError):
    """Somebody else decided otherwise about a cause while it was looked at; ``now`` is what stands."""

    def __init__(self, field: str, now: CauseRule) -> None:
        named = said("cause_rule.named_meanwhile")  # who wrote a name or a note is kept nowhere
        decided = said("cause_rule.meanwhile", who=now.known_by or "-")
        super().__init__(named if field in ("name", "note") else decided, field)
        self.now = now


class CauseCommands:
    """Audited commands on causes; ``cause`` is a fingerprint."""

    def __init__(self, store: Store, steps: Steps, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._audit, self._operator = store, steps, audit, operator

    def describe(self, cause: str, *, name: str, note: str, seen: CauseRule | None = None) -> None:
        """Give a cause a name and a note; empty ones take them away. ``seen``: what the person saw; what they left as
        it was there stays as it is now.

        Raises:
            UsageError: one of them is too long.
            CauseChanged: somebody else changed the same meanwhile to something else; nothing is written.
        """
        self._audit.need(self._operator, "operator", "cause.describe", [cause])
        _check_length("name", name, MAX_NAME)
        _check_length("note", note, MAX_NOTE)
        name, note = name.strip(), note.strip()

        def described(now: CauseRule) -> CauseRule:
            if seen is None:
                return msgspec.structs.replace(now, name=name, note=note)
            kept = _changed("name", name, seen, now), _changed("note", note, seen, now)
            return msgspec.structs.replace(now, name=kept[0], note=kept[1])

        told = described(self._rule(cause))
        with self._audit.act("cause.describe", [cause], {"name": told.name, "note": told.note}):
            self._change(cause, described)

    def ignore(self, cause: str, *, seconds: int = 0) -> Outcome:
        """Ignore its letters and what dies of it from now on: for some seconds, or until its text changes (0).

        Raises:
            UsageError: the time is negative or longer than a year, or the cause counts to another one.
        """
        self._audit.need(self._operator, "operator", "cause.ignore", [cause])
        if not 0 <= seconds <= LONGEST_S:
            raise UsageError(said("cause_rule.ignored_for", longest_s=LONGEST_S, seconds=seconds), field="seconds")
        now = self._store.now_ms()
        until = now + seconds * 1000 if seconds else cause_rule.FOREVER
        before = self._own(cause)
        was = {"by": before.by, "until": before.until} if before.ignored else {}
        decided = {"ignored": True, "until": until, "by": self._operator.who, "at": now}
        with self._audit.act("cause.ignore", [cause], {"until": until, "was": was}) as act:
            rule = self._set(cause, **decided)
            done = cause_keeper.ignore(self._store, self._steps, cause, rule)
            if before.ignored:
                cause_keeper.renew(self._store, self._steps, cause, before, rule)
            act.counted(len(done), 0)
        return Outcome(done=done)

    def lift(self, cause: str) -> Outcome:
        """Ignore it no longer; the letters that the rule has ignored are open again."""
        self._audit.need(self._operator, "operator", "cause.lift", [cause])
        rule = self._rule(cause)
        with self._audit.act("cause.lift", [cause]) as act:
            self._set(cause, ignored=False)
            done = cause_keeper.reopen(self._store, self._steps, cause, rule)
            act.counted(len(done), 0)
        return Outcome(done=done)

    def know(
        self,
        cause: str,
        *,
        owner: str = "",
        park_s: int = 0,
        retry_at: str = "",
        alert_once: bool = False,
        route: Sequence[str] = (),
        link: str = "",
        note: str | None = None,
        seen: CauseRule | None = None,
    ) -> None:
        """Say who is at it, where it is followed up (``link``: http, https), and what whoever leads does by itself, in
        the place of what was decided before: park its shops for so long after each letter, run its letters again at a
        time of day (``HH:MM`` of the fleet), tell an alert once, tell others of it. ``note``: what was found out; None:
        what was noted stays. ``seen``: what the person saw; what they left as it was there stays as it is now.

        Raises:
            UsageError: one of them cannot be, or the cause counts to another one; ``field`` names it.
            CauseChanged: somebody else changed the same meanwhile to something else; nothing is written.
        """
        self._audit.need(self._operator, "operator", "cause.know", [cause])
        before = self._own(cause)
        owner, link, route = owner.strip(), link.strip(), tuple(dict.fromkeys(route))
        if seen is not None:
            owner = _changed("owner", owner, seen, before)
            park_s = _changed("park_s", park_s, seen, before)
            retry_at = _changed("retry_at", retry_at, seen, before)
            alert_once = _changed("alert_once", alert_once, seen, before)
            route = _changed("route", route, seen, before)
            link = _changed("link", link, seen, before)
        note = before.note if note is None else note.strip()
        _check_length("owner", owner, MAX_NAME)
        _check_length("note", note, MAX_NOTE)
        decided: dict[str, object] = {
            "owner": owner,
            "park_s": park_s,
            "retry_at": retry_at,
            "alert_once": alert_once,
            "route": route,
            "link": link,
            "known_by": self._operator.who,
            "known_at": self._store.now_ms(),
            **({"note": note} if note != before.note else {}),
        }
        rule = msgspec.structs.replace(before, **decided)
        known_issue.check(rule)
        channels.need(rule.route, channels.readable(self._store.documents(channels.KIND)), "to")
        detail = {
            "owner": rule.owner,
            "park_s": park_s,
            "retry_at": retry_at,
            "alert_once": alert_once,
            "link": rule.link,
            "note": note if note != before.note else "",
        }
        told = {name: value for name, value in {**detail, "to": list(rule.route)}.items() if value}
        was = {"by": before.known_by, "owner": before.owner} if before.known else {}
        was |= {"note": before.note} if before.note != note else {}
        with self._audit.act("cause.know", [cause], {**told, "was": was}):
            self._set(cause, **decided)

    def forget(self, cause: str, *, seen: CauseRule | None = None) -> bool:
        """Do nothing about it by itself any more, and nobody is at it; shops that were parked for it go on within
        seconds. Name and note stay. False when nothing was decided. ``seen``: only what the person saw.

        Raises:
            CauseChanged: somebody else decided otherwise since it was ``seen``.
        """
        self._audit.need(self._operator, "operator", "cause.forget", [cause])
        rule = self._rule(cause)
        if seen is not None and _decisions(rule) != _decisions(seen):
            raise CauseChanged("cause", rule)
        with self._audit.act("cause.forget", [cause]) as act:
            if not rule.known:
                act.refused(N_("nothing was decided about it"))
                return False
            nothing = {"owner": "", "park_s": 0, "retry_at": "", "alert_once": False, "route": (), "link": ""}
            self._set(cause, **nothing, known_by="", known_at=0)
        return True

    def merge(self, causes: Sequence[str], into: str) -> None:
        """Count these causes to another one: one row, one verdict, its rule for all; what the rule of a third one that
        they counted to before has ignored of them is open again.

        Raises:
            UsageError: one of them is that one, or counts to one of these itself.
        """
        self._audit.need(self._operator, "operator", "cause.merge", list(causes))
        self._rule(into)
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        main = cause_rule.root(into, rules)
        apart = cause_rule.Causes(rules)
        for one in (*causes, main):
            if (one in rules and rules[one].where) or (one != main and apart.apart(one)):
                raise UsageError(said("cause_rule.is_split", one=one), field="cause")
        for one in causes:
            self._rule(one)
            if one == main:
                raise UsageError(said("cause_rule.itself", one=one), field="into")
        was = {one: rules[one].into for one in causes if one in rules and rules[one].into}
        with self._audit.act("cause.merge", [*causes], {"into": main, "was": was}):
            for one in causes:
                self._set(one, into=main)
            for one in causes:
                self._let_out(one, [rules[up] for up in cause_rule.above(one, rules)[1:] if up in rules and up != main])

    def split(self, cause: str) -> bool:
        """Let a cause that was merged stand by itself again; what the rule of the other one has ignored of it is open
        again. False when it stands by itself.
        """
        self._audit.need(self._operator, "operator", "cause.split", [cause])
        rule, rules = self._rule(cause), cause_rule.read(self._store.documents(cause_rule.KIND))
        with self._audit.act("cause.split", [cause], {"from": rule.into} if rule.into else None) as act:
            if not rule.into:
                act.refused(N_("it stands by itself"))
                return False
            self._set(cause, into="")
            self._let_out(cause, [rules[up] for up in cause_rule.above(cause, rules)[1:] if up in rules])
        return True

    def split_off(self, cause: str, where: str) -> str:
        """Let the letters of a cause that died at a place (``shop:pdd:s1``, ``platform:temu``, ``worker:desk-7``) be a
        cause of their own, with its own owner, note and rule. Its fingerprint; what was decided about the cause does
        not hold for it, and what that ignored of it is open again.

        Raises:
            UsageError: that is no place, none of its open letters died there, or it is split off already; what was
                split off or merged cannot be split further.
        """
        self._audit.need(self._operator, "operator", "cause.split", [cause])
        rules = cause_rule.read(self._store.documents(cause_rule.KIND))
        rule, part = self._rule(cause), cause_rule.part_of(cause, cause_rule.check_where(where))
        if rule.where or rule.into:
            raise UsageError(said("cause_rule.is_part", cause=cause, what=rule.of or rule.into), field="cause")
        if part in rules and rules[part].where:
            raise UsageError(said("cause_rule.split_already", where=where, cause=cause, part=part), field="where")
        terms = (
            equals("status", Status.DEAD),
            equals("triage", Triage.OPEN),
            equals("fp", *cause_rule.Causes(rules).prints(cause)),
            cause_rule.place_term(where),
        )
        if not self._store.query(Query(terms=terms, limit=1, want_total=False)).tasks:
            raise UsageError(said("cause_rule.none_there", cause=cause, where=where), field="where")
        with self._audit.act("cause.split", [cause], {"where": where, "part": part}):
            fresh = CauseRule(of=cause, where=where, by=self._operator.who, at=self._store.now_ms())
            self._put(part, fresh)
            self._let_out(part, [rules[one] for one in cause_rule.Causes(rules).prints(cause) if one in rules])
        return part

    def join(self, part: str) -> str:
        """Let what was split off count to its cause again; what was decided about it is over: ignored letters are open
        again, parked shops go on within seconds. The fingerprint of the cause.

        Raises:
            UsageError: it was not split off.
        """
        self._audit.need(self._operator, "operator", "cause.join", [part])
        rule = self._rule(part)
        if not rule.where:
            raise UsageError(said("cause_rule.not_split", part=part), field="cause")
        with self._audit.act("cause.join", [part], {"where": rule.where, "into": rule.of}):
            if rule.ignored:
                cause_keeper.reopen(self._store, self._steps, part, rule)
            self._store.remove_document(cause_rule.KIND, part)
        return rule.of

    def _let_out(self, cause: str, held: Sequence[CauseRule]) -> None:
        """Open what these rules have ignored of a cause: they hold for it no more, and their end would not find it."""
        for rule in held:
            if rule.at:
                cause_keeper.reopen(self._store, self._steps, cause, rule)

    def _rule(self, cause: str) -> CauseRule:
        return cause_rule.parse(self._store.documents(cause_rule.KIND).get(cause_rule.check_fingerprint(cause)))

    def _own(self, cause: str) -> CauseRule:
        """Of a cause that stands by itself: what is decided about another one would hold for nothing."""
        rule = self._rule(cause)
        if rule.into:
            raise UsageError(said("cause_rule.is_merged", cause=cause, into=rule.into), field="cause")
        return rule

    def _set(self, cause: str, **fields: object) -> CauseRule:
        return self._change(cause, lambda now: msgspec.structs.replace(now, **fields))

    def _change(self, cause: str, make: Callable[[CauseRule], CauseRule]) -> CauseRule:
        kind, name = cause_rule.KIND, cause_rule.check_fingerprint(cause)
        return rewrite(self._store, kind, name, lambda body: make(cause_rule.parse(body)), cause_rule.DOCUMENT.dump)

    def _put(self, cause: str, rule: CauseRule) -> None:
        self._store.put_document(cause_rule.KIND, cause, cause_rule.DOCUMENT.dump(rule))


def _decisions(rule: CauseRule) -> tuple[object, ...]:
    return (rule.owner, rule.park_s, rule.retry_at, rule.alert_once, rule.route, rule.link)


def _changed(field: str, wanted: V, seen: CauseRule, now: CauseRule) -> V:
    """What a field is to be, where ``wanted`` was made of what was seen."""
    was: V = getattr(seen, field)
    stands: V = getattr(now, field)
    if wanted == was:
        return stands
    if stands not in (was, wanted):
        raise CauseChanged(field, now)
    return wanted


def _check_length(field: str, words: str, most: int) -> None:
    if len(words) > most:
        raise UsageError(said("cause_rule.too_long", field=field, most=most, count=len(words)), field=field)
