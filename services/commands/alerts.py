"""What an operator may do about alerts: answer, mute and escalate incidents, change rules and channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.alerts import rule as rules
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import Answer, Incident
from services.domain.alerts.rule import Rule
from services.domain.errors import UsageError
from services.domain.text.said import said
from services.domain.upkeep.stored import version_name, versions
from services.ports import Store
from services.rewrite import rewrite

REASON_MOST = 500
LONGEST_MS = 366 * 86_400_000


class AnswerChanged(UsageError):
    """Somebody else muted an incident while a person was about to; ``now`` is their answer."""

    def __init__(self, now: Answer) -> None:
        super().__init__(said("alert.muted_meanwhile", who=now.muted_by or "-"), "until")
        self.now = now


class RuleChanged(UsageError):
    """A rule is not as it was shown to who changes it; ``now`` is how it stands, None where it is gone."""

    def __init__(self, now: Rule | None) -> None:
        by = now.by if now is not None else ""
        super().__init__(said("alert.rule_meanwhile", who=by) if by else said("alert.rule_back_meanwhile"), "rule")
        self.now = now


class AlertCommands:
    """Audited commands."""

    def __init__(
        self,
        store: Store,
        audit: Audit,
        operator: Operator,
        defaults: Sequence[Rule],
        hand_over: Callable[[Channel, str], str],
    ) -> None:
        """``defaults``: the rules that hold where nobody changed them. ``hand_over`` sends the test of a channel in
        somebody's name and says why that failed, "" where it did not.
        """
        self._store, self._audit, self._operator = store, audit, operator
        self._defaults, self._hand_over = {one.name: one for one in defaults}, hand_over

    # ----------------------------------------------------------------------------------------------------- incidents
    def answer(self, incident: str, note: str = "") -> Incident:
        """Take it: it is not told again, and does not escalate.

        Raises:
            UsageError: it is not open.
        """
        self._audit.need(self._operator, "operator", "alert.answer", [incident])
        now = self._store.now_ms()
        return self._act(
            "alert.answer",
            incident,
            {"note": note},
            _taken,
            answered_by=self._operator.who,
            answered_at=now,
            note=note.strip(),
        )

    def unanswer(self, incident: str) -> Incident:
        """Give it back: it is nobody's again. Raises UsageError where it is not open."""
        self._audit.need(self._operator, "operator", "alert.unanswer", [incident])
        return self._act("alert.unanswer", incident, {}, answered_by="", answered_at=0, note="")

    def mute(self, incident: str, until: int, reason: str, *, seen: Answer | None = None) -> Incident:
        """Tell nobody of it until an instant (UTC ms), or with ``UNTIL_CHANGED`` until it becomes worse or is over; it
        goes on being watched. ``seen``: what the person saw of who is at it, which a mute of somebody else since is not
        written over for.

        Raises:
            UsageError: it is not open, the instant is past or too far, or there is no reason.
            AnswerChanged: somebody else muted it since it was ``seen``.
        """
        self._audit.need(self._operator, "operator", "alert.mute", [incident])
        now = self._store.now_ms()
        on_change = until == incidents.UNTIL_CHANGED
        if not on_change and not now < until <= now + LONGEST_MS:
            raise rules.refusal("alert.bad_until", "until")
        if not 1 <= len(reason.strip()) <= REASON_MOST:
            raise rules.refusal("alert.needs_reason", "reason", most=REASON_MOST)
        detail: dict[str, object] = {"until": incidents.CHANGED if on_change else until, "reason": reason.strip()}
        found = self._one(incident)
        return self._act(
            "alert.mute",
            incident,
            detail,
            partial(_muted_unseen, seen=seen, now_ms=now, unmuted=found.unmuted),
            muted_by=self._operator.who,
            muted_at=now,
            muted_until=now + LONGEST_MS if on_change else until,
            reason=reason.strip(),
            changes_from=max(1, found.count) if on_change else 0,
        )

    def unmute(self, incident: str) -> Incident:
        """Tell of it again. Raises UsageError where it is not open."""
        self._audit.need(self._operator, "operator", "alert.unmute", [incident])
        return self._act(
            "alert.unmute", incident, {}, muted_by="", muted_at=0, muted_until=0, reason="", changes_from=0
        )

    def escalate(self, incident: str) -> Incident:
        """Tell those whom its rule escalates to, now. Raises UsageError where it is not open."""
        self._audit.need(self._operator, "operator", "alert.escalate", [incident])
        now = self._store.now_ms()
        return self._act("alert.escalate", incident, {}, escalate_at=now)

    def _act(
        self,
        action: str,
        incident: str,
        detail: dict[str, object],
        was: Callable[[Answer], dict[str, object]] | None = None,
        **fields: object,
    ) -> Incident:
        """People write a document of their own: the leader writes the incident at any moment. ``was``: what of the
        answer of before this takes the place of.
        """
        found = self._one(incident)
        told = {key: value for key, value in detail.items() if value}
        told |= {"was": was(found.answer)} if was is not None else {}
        with self._audit.act(action, [incident], told):

            def answered(body: str | None) -> Answer:
                now = incidents.ANSWER.read(body, found.answer)
                if was is not None:
                    was(now)  # asked again: somebody may have come in between
                return replace(now, **fields)

            answer = rewrite(self._store, incidents.ANSWERS, incident, answered, incidents.ANSWER.dump)
        return replace(found, answer=answer)

    def _one(self, incident: str) -> Incident:
        for found in incidents.DOCUMENT.readable(self._store.documents(incidents.KIND)).values():
            if found.id == incident and found.raised_at:
                stored = self._store.document(incidents.ANSWERS, incident)
                return replace(found, answer=incidents.ANSWER.read(stored, found.answer))
        raise rules.refusal("alert.no_incident", "incident", value=incident[:80])

    # --------------------------------------------------------------------------------------------------------- rules
    def rules(self) -> dict[str, Rule]:
        """All rules by name."""
        return rules.known(self._defaults.values(), self._store.documents(rules.KIND))

    def add_rule(self, rule: Rule) -> Rule:
        """Add a rule of a known measure, under a name that no other has.

        Raises:
            UsageError: it cannot be like this, it names a channel that is none, or there is one of this name.
        """
        self._audit.need(self._operator, "admin", "alert.rule", [rule.name])
        rules.check(rule, self._defaults)
        made = self._made(rule, None)
        if rule.name in self.rules():
            raise rules.refusal("alert.rule_known", "name", value=rule.name)
        with self._audit.act("alert.rule", [rule.name], {"rule": msgspec.to_builtins(made)}):
            if not self._put_rule(None, made):  # somebody came in between
                raise rules.refusal("alert.rule_known", "name", value=rule.name)
        return made

    def set_rule(self, rule: Rule, *, instead: Rule | None = None) -> Rule:
        """Change a rule, or add one of a known measure, as a new version; what it was is kept, what is so already is no
        act. Open incidents keep the version that they began with. ``instead``: only in the place of this one.

        Raises:
            UsageError: it cannot be like this, or it names a channel that is none.
            RuleChanged: there is another one than ``instead``.
        """
        self._audit.need(self._operator, "admin", "alert.rule", [rule.name])
        rules.check(rule, self._defaults)
        body = self._store.document(rules.KIND, rule.name)
        before = self.rules().get(rule.name)
        if instead not in (None, before):
            raise RuleChanged(before)
        if rule == before:
            return rule
        made = self._made(rule, before)
        detail = {"rule": msgspec.to_builtins(made)}
        if before is not None:
            detail["before"] = msgspec.to_builtins(before)
        with self._audit.act("alert.rule", [rule.name], detail):
            if before is not None:
                self._store.put_document(
                    rules.VERSIONS, version_name(before.name, before.version), rules.DOCUMENT.dump(before)
                )
            if instead is None:
                self._store.put_document(rules.KIND, made.name, rules.DOCUMENT.dump(made))
            elif not self._put_rule(body, made):  # somebody came in between
                raise RuleChanged(self.rules().get(rule.name))
            self._prune(rule.name)
        return made

    def _made(self, rule: Rule, before: Rule | None) -> Rule:
        """A rule as the next version after all that were kept, by who works here; refused where it tells nobody that
        there is.
        """
        for field in ("channels", "escalate_to"):
            # what it named before may have been removed since: that must not keep the rest from being changed
            names = set(getattr(rule, field)) - set(getattr(before, field, ()))
            channels.need(sorted(names), self.channels(), field)
        last = max(
            [before.version if before is not None else 0, *versions(self._store.documents(rules.VERSIONS), rule.name)]
        )
        return replace(rule, version=last + 1, by=self._operator.who, at=self._store.now_ms())

    def _put_rule(self, before: str | None, made: Rule) -> bool:
        if before is None:
            return self._store.add_document(rules.KIND, made.name, rules.DOCUMENT.dump(made))
        return self._store.swap_document(rules.KIND, made.name, before, rules.DOCUMENT.dump(made))

    def enable_rule(self, name: str, *, enabled: bool, instead: Rule | None = None) -> Rule:
        """Switch a rule on or off. ``instead``: only in the place of this one.

        Raises:
            UsageError: there is none.
            RuleChanged: there is another one than ``instead``, or somebody changed it this very moment.
        """
        before = instead or self._rule(name)
        return self.set_rule(replace(before, enabled=enabled), instead=before)

    def reset_rule(self, name: str, *, instead: Rule | None = None) -> Rule | None:
        """Take back what people changed; the default holds again. None for a rule that people added: it is gone.
        ``instead``: only in the place of this one.

        Raises:
            UsageError: there is no such rule.
            RuleChanged: there is another one than ``instead``, or somebody changed it this very moment.
        """
        self._audit.need(self._operator, "admin", "alert.rule_reset", [name])
        body = self._store.document(rules.KIND, name)
        if instead is not None and instead != (now := self.rules().get(name)):
            raise RuleChanged(now)
        before = self._rule(name)
        if body is None:  # nobody changed it
            return before
        with self._audit.act("alert.rule_reset", [name], {"before": msgspec.to_builtins(before)}):
            self._store.put_document(
                rules.VERSIONS, version_name(before.name, before.version), rules.DOCUMENT.dump(before)
            )
            if not self._store.swap_document(rules.KIND, name, body, ""):  # somebody came in between
                raise RuleChanged(self.rules().get(name))
        return self._defaults.get(name)

    def _rule(self, name: str) -> Rule:
        known = self.rules()
        if name not in known:
            raise rules.refusal("alert.no_rule", "name", value=name[:80], known=", ".join(known))
        return known[name]

    def _prune(self, name: str) -> None:
        for number in versions(self._store.documents(rules.VERSIONS), name)[: -rules.KEPT]:
            self._store.remove_document(rules.VERSIONS, version_name(name, number))

    # ------------------------------------------------------------------------------------------------------ channels
    def channels(self) -> dict[str, Channel]:
        """All channels by name."""
        return channels.readable(self._store.documents(channels.KIND))

    def set_channel(self, channel: Channel) -> Channel | None:
        """Add a channel, or change the one of this name; returns what it was.

        Raises:
            UsageError: it cannot be like this, as one with an address in it.
        """
        self._audit.need(self._operator, "admin", "alert.channel", [channel.name])
        channels.check(channel)
        before = self.channels().get(channel.name)
        made = replace(channel, by=self._operator.who, at=self._store.now_ms())
        detail = {"channel": _told(made)} | ({"before": _told(before)} if before is not None else {})
        with self._audit.act("alert.channel", [channel.name], detail):
            self._store.put_document(channels.KIND, made.name, channels.DOCUMENT.dump(made))
        return before

    def remove_channel(self, name: str) -> None:
        """Take a channel away; what it has not taken is given up, and said. Raises UsageError where there is none."""
        self._audit.need(self._operator, "admin", "alert.channel_remove", [name])
        before = self._channel(name)
        with self._audit.act("alert.channel_remove", [name], {"before": _told(before)}):
            self._store.remove_document(channels.KIND, name)

    def test_channel(self, name: str) -> str:
        """Send a test from this machine, now; "" once it was taken, else why not. Blocking for some seconds.

        Raises:
            UsageError: there is no such channel.
        """
        self._audit.need(self._operator, "operator", "alert.channel_test", [name])
        channel = self._channel(name)
        with self._audit.act("alert.channel_test", [name]) as act:
            why = self._hand_over(channel, self._operator.who)
            if why:
                act.refused(why)
        return why

    def _channel(self, name: str) -> Channel:
        known = self.channels()
        if name not in known:
            raise rules.no_channel(name, known, "name")
        return known[name]


def _taken(answer: Answer) -> dict[str, object]:
    return {"by": answer.answered_by, "note": answer.note} if answer.answered_by else {}


def _muted_unseen(answer: Answer, seen: Answer | None, now_ms: int, unmuted: int) -> dict[str, object]:
    if not answer.mutes(now_ms, unmuted):
        return {}
    if seen is not None and answer.muted_at != seen.muted_at:
        raise AnswerChanged(answer)
    until = incidents.CHANGED if answer.changes_from else answer.muted_until
    return {"by": answer.muted_by, "until": until, "reason": answer.reason}


def _told(channel: Channel) -> dict[str, object]:
    """A channel for the audit: the name of its secret is a name, and would be dots under that key."""
    found: dict[str, object] = msgspec.to_builtins(channel)
    found["address_of"] = found.pop("secret")
    return found
