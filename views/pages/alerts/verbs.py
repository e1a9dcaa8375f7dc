"""What is done about incidents, rules and channels: a list of each behind bar, panel, menu, keys and palette."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from itertools import count

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services import messages
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import (
    ANSWERED,
    CALMING,
    MUTED,
    OPEN,
    RESOLVED,
    UNTIL_CHANGED,
    WAITING,
    Answer,
    Incident,
)
from services.domain.alerts.rule import Rule
from services.i18n import N_, _, ngettext
from services.monitor.alerts.queries import ChannelNow, IncidentNow, RuleNow
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, confirm
from views.kit.page_acts import PageActs
from views.kit.verb import LOOK, Place, Verb
from views.pages.alerts import words
from views.pages.alerts.editors import ChannelDialog, MuteDialog
from views.pages.alerts.rule_strip import RuleStrip
from views.support import instant, safe, shown, text
from views.support.operation import Operation, Start
from views.widgets.toast import ToastSpec

Chosen = IncidentNow | None
#: what a new rule looks at first; so many letters of a name are left to its copy
FIRST_MEASURE, NAME_STEM = "oldest_wait", 60
#: pages that show what some rules are about; for the others its tasks are shown
PAGES = {
    "silent_worker": "workers",
    "lane_unserved": "workers",
    "schedule_late": "schedules",
    "needs_login": "shops",
    "shop_failing": "shops",
    "promise_broken": "promises",
    "promise_at_risk": "promises",
}
#: what is asked of those pages
REQUESTS = {"needs_login": "session", "schedule_late": "state:overdue", "shop_failing": "breaker"}


class AlertActions(PageActs):
    """What is done about incidents, rules and channels.

    Signals:
        strip_made: a ``RuleStrip``, which the page shows.
    """

    strip_made = Signal(object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._testing = Operation(self, lasting=True)
        self._finding = Operation(self, latest=True)
        self.named: Collection[str] = ()  #: the names of channels and of their groups, as far as they are known

    # incidents

    def take(self, one: IncidentNow) -> None:
        """Answer it; it is not told again."""
        alerts, name = self._context.commands.alerts, one.incident.id
        self._act(
            partial(alerts.answer, name),
            lambda _done: _("{id} is yours; nobody is told again.").format(id=name),
            partial(alerts.unanswer, name),
        )

    def give_back(self, one: IncidentNow) -> None:
        """Let it be nobody's again."""
        alerts, name = self._context.commands.alerts, one.incident.id
        self._act(
            partial(alerts.unanswer, name),
            lambda _done: _("{id} is nobody's again.").format(id=name),
            partial(alerts.answer, name, one.incident.answer.note),
        )

    def mute(self, one: IncidentNow) -> None:
        """Tell nobody of it for a while; asks until when and why."""
        dialog = MuteDialog(one, self._owner)
        dialog.chosen.connect(partial(self._mute, dialog.start, one))
        dialog.open()

    def _mute(self, start: Start, one: IncidentNow, until: int, reason: str, seen: Answer) -> None:
        alerts, name = self._context.commands.alerts, one.incident.id

        def said(_done: object) -> str:
            if until == UNTIL_CHANGED:
                return _("{id} is muted until it changes.").format(id=name)
            return _("{id} is muted until {time}.").format(id=name, time=words.clock(until))

        call = partial(alerts.mute, name, until, reason, seen=seen)
        self._act(call, said, self._muted_back(one.incident, seen) or partial(alerts.unmute, name), start=start)

    def _muted_back(self, incident: Incident, answer: Answer) -> Callable[[], object] | None:
        """What mutes it again as it was muted, None where it was not, or would be no more by now."""
        if not answer.mutes(instant.now_ms(), incident.unmuted):
            return None
        until = UNTIL_CHANGED if answer.changes_from else answer.muted_until
        return partial(self._context.commands.alerts.mute, incident.id, until, answer.reason or "-")

    def unmute(self, one: IncidentNow) -> None:
        """Tell of it again."""
        alerts, name = self._context.commands.alerts, one.incident.id
        self._act(
            partial(alerts.unmute, name),
            lambda _done: _("{id} is told again.").format(id=name),
            self._muted_back(one.incident, one.incident.answer),
        )

    def escalate(self, one: IncidentNow) -> None:
        """Tell those whom its rule escalates to, now."""
        name, to = one.incident.id, one.incident.rule.escalate_to
        self._act(
            partial(self._context.commands.alerts.escalate, name),
            lambda _done: _("{id} goes to {who}.").format(id=name, who=words.groups(to)),
        )

    def pause(self, one: IncidentNow) -> None:
        """Let nothing start where it would fail again."""
        scope = one.incident.pause
        self._pause(scope, partial(shown.scope_name, scope), one.incident.id)

    def open(self, one: IncidentNow) -> None:
        """Show what it is about."""
        measure = one.incident.rule.measure
        if measure in PAGES:
            self.shown.emit(PAGES[measure], _one_of_page(one.incident) or REQUESTS.get(measure))
        elif one.incident.scope:
            self.shown.emit("tasks", one.incident.scope)

    def trail(self, one: IncidentNow) -> None:
        """Show who did what about it."""
        self.shown.emit("audit", f'target:"{one.incident.id}"')

    def copy(self, one: IncidentNow) -> None:
        """Put it into the clipboard as it was told."""
        QGuiApplication.clipboard().setText(safe.masked(words.message(one) or words.sentence(one)))
        self._context.toast(ToastSpec(text=_("Copied."), status="healthy"))

    # rules

    def edit_rule(self, one: RuleNow) -> None:
        """Change one, in a strip of the page."""
        save = self._context.commands.alerts.set_rule
        strip = RuleStrip(one.rule, save, self._context.past.dry_run, self.named, self._owner)
        strip.saved.connect(self._saved_rule)
        self._show_strip(strip)

    def add_rule(self) -> None:
        """Make one in such a strip: as one that looks at the same was delivered."""
        self._make_rule(replace(self._context.alerts.measures[FIRST_MEASURE], name=""))

    def copy_rule(self, one: RuleNow) -> None:
        """Make another one that begins as this one is now, under a name that no rule has."""

        def found(rules: tuple[RuleNow, ...]) -> None:
            names = {each.rule.name for each in rules}
            stem = one.rule.name[:NAME_STEM]
            free = next(name for number in count(2) if (name := f"{stem}-{number}") not in names)
            self._make_rule(replace(one.rule, name=free))

        self._finding.start(self._context.alerts.rules, found)

    def _make_rule(self, rule: Rule) -> None:
        save, measures = self._context.commands.alerts.add_rule, self._context.alerts.measures
        strip = RuleStrip(rule, save, self._context.past.dry_run, self.named, self._owner, measures=measures)
        strip.saved.connect(self._added_rule)
        self._show_strip(strip)

    def _show_strip(self, strip: RuleStrip) -> None:
        strip.past.opened.connect(lambda at_ms: self.shown.emit("past", str(at_ms)))
        self.strip_made.emit(strip)

    def _added_rule(self, made: Rule, _before: Rule) -> None:
        on, off = N_("{name} is a rule now, and looks from now on."), N_("{name} is a rule now, and off.")
        back = partial(self._context.commands.alerts.reset_rule, made.name, instead=made)
        self._tell(lambda: _(on if made.enabled else off).format(name=words.rule_name(made)), back)

    def open_rule(self, name: str) -> None:
        """Show one by its name as it is now, to be changed or read."""

        def found(rules: tuple[RuleNow, ...]) -> None:
            one = next((one for one in rules if one.rule.name == name), None)
            if one is not None:
                self.edit_rule(one)
            else:
                said = _("There is no rule {name} any more.").format(name=safe.one_line(name, 60))
                self._context.toast(ToastSpec(text=said, status="warning"))

        self._finding.start(self._context.alerts.rules, found)

    def _saved_rule(self, made: Rule, before: Rule) -> None:
        said = N_("{name} has version {n} now; open incidents keep theirs.")
        self._tell(lambda: _(said).format(name=words.rule_name(made), n=made.version), self._rule_back(before))

    def _rule_back(self, before: Rule) -> Callable[[], object]:
        alerts = self._context.commands.alerts
        return partial(alerts.set_rule, before) if before.by else partial(alerts.reset_rule, before.name)

    def switch_rule(self, one: RuleNow) -> None:
        """Switch one on or off."""
        said = N_("{name} is off.") if one.rule.enabled else N_("{name} is on.")
        enable = self._context.commands.alerts.enable_rule
        call = partial(enable, one.rule.name, enabled=not one.rule.enabled, instead=one.rule)
        self._act(call, lambda _done: _(said).format(name=words.rule_name(one.rule)), self._rule_back(one.rule))

    def reset_rule(self, one: RuleNow) -> None:
        """Let the default hold again."""
        alerts = self._context.commands.alerts
        said = N_("{name} is as it was delivered.")
        call = partial(alerts.reset_rule, one.rule.name, instead=one.rule)
        back = partial(alerts.set_rule, one.rule)
        self._act(call, lambda _done: _(said).format(name=words.rule_name(one.rule)), back)

    def remove_rule(self, one: RuleNow) -> None:
        """Take away one that people made, after a look at what is open of it."""

        def question() -> Question:
            opened = ngettext(
                "{n} open incident is its own; it is over unless another rule sees the same.",
                "{n} open incidents are its own; they are over unless another rule sees the same.",
                one.active,
            )
            said = _("{name} tells nobody any more; what it was stays in Audit.")
            said = said.format(name=words.rule_name(one.rule))
            return Question(
                title=N_("Remove a rule"),
                text=text.sentences([said, opened.format(n=text.count(one.active)) if one.active else ""]),
                verb=_("Remove"),
                danger=True,
            )

        alerts = self._context.commands.alerts
        call = partial(alerts.reset_rule, one.rule.name, instead=one.rule)
        back = partial(alerts.add_rule, one.rule)

        def removed(_done: object) -> str:
            return _("{name} is removed.").format(name=words.rule_name(one.rule))

        confirm(question, self._owner, partial(self._act, call, removed, back))

    # channels

    def add_channel(self) -> None:
        """Make one, in a dialog."""
        self._open_channel(None)

    def edit_channel(self, one: ChannelNow) -> None:
        """Change one, in a dialog."""
        self._open_channel(one.channel)

    def _open_channel(self, channel: Channel | None) -> None:
        save = self._context.commands.alerts.set_channel
        dialog = ChannelDialog(channel, save, self.named, self._owner)
        dialog.saved.connect(self._saved_channel)
        dialog.open()

    def _saved_channel(self, made: Channel, before: Channel | None) -> None:
        alerts = self._context.commands.alerts
        back = partial(alerts.remove_channel, made.name) if before is None else partial(alerts.set_channel, before)
        said = N_("Channel {name} is saved. Its address belongs into {variable} on the machines that lead.")
        self._tell(lambda: _(said).format(name=made.name, variable=made.variable), back)

    def switch_channel(self, one: ChannelNow) -> None:
        """Switch one on or off."""
        alerts, channel = self._context.commands.alerts, one.channel
        off = N_("{name} is off; what is told meanwhile does not go there.")
        said = off if channel.enabled else N_("{name} is on.")
        call = partial(alerts.set_channel, replace(channel, enabled=not channel.enabled))
        self._act(call, lambda _done: _(said).format(name=channel.name), partial(alerts.set_channel, channel))

    def remove_channel(self, one: ChannelNow) -> None:
        """Take one away, after a look at what waits for it."""
        channel = one.channel

        def question() -> Question:
            waits = ngettext(
                "{n} message waits for it; it is given up.", "{n} messages wait for it; they are given up.", one.waiting
            )
            waits = waits.format(n=text.count(one.waiting)) if one.waiting else ""
            return Question(
                title=N_("Remove a channel"),
                text=text.sentences([_("{name} is told nothing any more.").format(name=channel.name), waits]),
                verb=_("Remove"),
                danger=True,
            )

        alerts = self._context.commands.alerts
        dialog = ConfirmDialog(question, self._owner)
        back = partial(alerts.set_channel, channel)

        def said(_done: object) -> str:
            return _("{name} is removed.").format(name=channel.name)

        dialog.confirmed.connect(partial(self._act, partial(alerts.remove_channel, channel.name), said, back))
        dialog.open()

    def test_channel(self, one: ChannelNow) -> None:
        """Send a test from this machine; how it went is told."""
        name = one.channel.name
        if self._testing.busy:
            return
        said = _("A test goes to {name}…").format(name=name)
        self._context.toast(ToastSpec(text=said, status="running", key="alerts.test", sticky=True))
        call = partial(self._context.commands.alerts.test_channel, name)
        self._testing.start(call, partial(self._tested, name), partial(self._fail, key="alerts.test"))

    def _tested(self, name: str, why: str) -> None:
        if why:
            said, detail, status = (
                _("{name} did not take the test.").format(name=name),
                safe.one_line(messages.own(why), 300),
                "error",
            )
        else:
            said, detail, status = _("{name} took the test.").format(name=name), "", "healthy"
        self._context.toast(ToastSpec(text=said, detail=detail, status=status, copy=detail, key="alerts.test"))
        self.changed.emit()

    # how an act goes


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentVerb(Verb[Chosen]):
    """Something that can be done about the incident that is chosen."""

    do: Callable[[AlertActions, IncidentNow], None]
    fits: Callable[[IncidentNow], bool] = lambda one: one.state not in (WAITING, RESOLVED)  #: where it is offered
    muted: bool | None = None  #: its button stands in the bar for muted ones only, for others only, or always

    def offered(self, place: Place, chosen: Chosen) -> bool:
        """A bar keeps its buttons; elsewhere only what suits its state."""
        if place == Place.BAR:
            return place in self.places and self.muted in (None, chosen is not None and chosen.state == MUTED)
        return place in self.places and (chosen is None or self.fits(chosen))

    def why_not(self, chosen: Chosen) -> str:
        """There must be one, and it must suit."""
        if chosen is None:
            return _("Choose an incident first")
        return "" if self.fits(chosen) else _("Not in its state")


class Pause(IncidentVerb):
    """Pauses what it is about."""

    def said(self, chosen: Chosen) -> str:
        """With what that is."""
        return (
            _("Pause {what}").format(what=shown.scope_name(chosen.incident.pause))
            if chosen is not None
            else _(self.text)
        )


class Open(IncidentVerb):
    """Shows what it is about."""

    def name(self, chosen: Chosen) -> str:
        """Where that leads."""
        measure = chosen.incident.rule.measure if chosen is not None else ""
        names = {
            "workers": N_("Open workers"), "schedules": N_("Open schedules"), "shops": N_("Open shops"),
            "promises": N_("Show that promise"),
        }  # fmt: skip
        return names.get(PAGES.get(measure, ""), self.text)


def _one_of_page(incident: Incident) -> str:
    """What of its page it is about, "" for all of that."""
    if incident.rule.measure == "silent_worker":
        return next(iter(incident.names), "")
    return incident.key.partition(":")[2] if PAGES[incident.rule.measure] == "promises" else ""


def _leads(one: IncidentNow) -> bool:
    return one.incident.rule.measure in PAGES or bool(one.incident.scope)


_LISTED = frozenset({Place.MENU, Place.PALETTE})
_ASIDE = frozenset({Place.PANEL, Place.MENU, Place.PALETTE})
#: in their order
INCIDENT_VERBS: tuple[IncidentVerb, ...] = (
    IncidentVerb(
        key="take", text=N_("Take it"), icon="ph.hand", shortcut="alerts.take",
        fits=lambda one: one.state in (OPEN, MUTED, CALMING) and not one.incident.answer.answered_by,
        do=AlertActions.take,
    ),
    IncidentVerb(
        key="mute", text=N_("Mute until"), icon="ph.bell-slash", shortcut="alerts.mute",
        fits=lambda one: one.state in (OPEN, ANSWERED, CALMING), muted=False, do=AlertActions.mute,
    ),
    IncidentVerb(
        key="unmute", text=N_("Unmute"), icon="ph.bell-ringing", fits=lambda one: one.state == MUTED, muted=True,
        do=AlertActions.unmute,
    ),
    IncidentVerb(
        key="escalate", text=N_("Escalate"), icon="ph.arrow-fat-lines-up", shortcut="alerts.escalate",
        fits=lambda one: one.state in (OPEN, ANSWERED, MUTED), do=AlertActions.escalate,
    ),
    Pause(
        key="pause", text=N_("Pause"), icon="ph.pause-circle", places=_ASIDE,
        fits=lambda one: bool(one.incident.pause) and one.state != RESOLVED, do=AlertActions.pause,
    ),
    Open(
        key="open", text=N_("Open its tasks"), icon="ph.list-bullets", role=LOOK, places=_ASIDE, fits=_leads,
        do=AlertActions.open,
    ),
    IncidentVerb(
        key="give_back", text=N_("Give it back"), icon="ph.arrow-counter-clockwise", places=_ASIDE,
        fits=lambda one: one.state != RESOLVED and bool(one.incident.answer.answered_by), do=AlertActions.give_back,
    ),
    IncidentVerb(
        key="copy", text=N_("Copy the message"), icon="ph.copy", role=LOOK, places=_LISTED, fits=lambda _one: True,
        do=AlertActions.copy,
    ),
    IncidentVerb(
        key="trail", text=N_("Who did what about it"), icon="ph.clipboard-text", role=LOOK, places=_LISTED,
        fits=lambda _one: True, do=AlertActions.trail,
    ),
)  # fmt: skip
_BY_KEY = {verb.key: verb for verb in INCIDENT_VERBS}


def next_steps(one: IncidentNow) -> tuple[IncidentVerb, ...]:
    """What a row offers, two at most: what helps against it, then taking it."""
    if one.state in (CALMING, WAITING, RESOLVED):
        return ()
    helps = ("unmute",) if one.state == MUTED else ("pause", "open")
    found = [verb for verb in map(_BY_KEY.__getitem__, helps) if verb.fits(one)][:1]
    take = _BY_KEY["take"]
    return (*found, take) if one.state == OPEN and take.fits(one) else tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerb(Verb[RuleNow | None]):
    """Something that can be done to the rule that is chosen."""

    do: Callable[[AlertActions, RuleNow], None]
    role: str = "admin"

    def why_not(self, chosen: RuleNow | None) -> str:
        """There must be one."""
        return "" if chosen is not None else _("Choose a rule first")


class SwitchRule(RuleVerb):
    """Switches on what is off and the other way about."""

    def name(self, chosen: RuleNow | None) -> str:
        """What it would do."""
        return self.text if chosen is None or chosen.rule.enabled else N_("Switch on")


class ResetRule(RuleVerb):
    """Takes back what people changed."""

    def offered(self, place: Place, chosen: RuleNow | None) -> bool:
        """One that people made was never delivered."""
        return chosen is None or not chosen.added

    def why_not(self, chosen: RuleNow | None) -> str:
        """It must have been changed."""
        if chosen is not None and not chosen.changed:
            return _("It is as it was delivered")
        return super().why_not(chosen)


class RemoveRule(RuleVerb):
    """Takes away what people made."""

    def offered(self, place: Place, chosen: RuleNow | None) -> bool:
        """In a bar it stands in the place of *As delivered*, which has room for one of them; a menu says why not."""
        return place != Place.BAR or (chosen is not None and chosen.added)

    def why_not(self, chosen: RuleNow | None) -> str:
        """The others came with the program."""
        if chosen is not None and not chosen.added:
            return _("It came with the program, and can only be switched off")
        return RuleVerb.why_not(self, chosen)


RULE_VERBS: tuple[RuleVerb, ...] = (
    RuleVerb(key="rule.edit", text=N_("Change the rule"), icon="ph.pencil-simple", do=AlertActions.edit_rule),
    SwitchRule(key="rule.switch", text=N_("Switch off"), icon="ph.power", do=AlertActions.switch_rule),
    ResetRule(key="rule.reset", text=N_("As delivered"), icon="ph.arrow-counter-clockwise", do=AlertActions.reset_rule),
    RuleVerb(key="rule.copy", text=N_("Copy rule"), icon="ph.copy", do=AlertActions.copy_rule),
    RemoveRule(key="rule.remove", text=N_("Remove"), icon="ph.trash", danger=True, do=AlertActions.remove_rule),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelVerb(Verb[ChannelNow | None]):
    """Something that can be done to the channel that is chosen."""

    do: Callable[[AlertActions, ChannelNow], None]
    role: str = "admin"

    def why_not(self, chosen: ChannelNow | None) -> str:
        """There must be one."""
        return "" if chosen is not None else _("Choose a channel first")


class SwitchChannel(ChannelVerb):
    """Switches on what is off and the other way about."""

    def name(self, chosen: ChannelNow | None) -> str:
        """What it would do."""
        return self.text if chosen is None or chosen.channel.enabled else N_("Switch on")


CHANNEL_VERBS: tuple[ChannelVerb, ...] = (
    ChannelVerb(
        key="channel.test", text=N_("Send a test"), icon="ph.paper-plane-tilt", role="operator",
        do=AlertActions.test_channel,
    ),
    ChannelVerb(
        key="channel.edit", text=N_("Change the channel"), icon="ph.pencil-simple", do=AlertActions.edit_channel
    ),
    SwitchChannel(key="channel.switch", text=N_("Switch off"), icon="ph.power", do=AlertActions.switch_channel),
    ChannelVerb(
        key="channel.remove", text=N_("Remove"), icon="ph.trash", danger=True, do=AlertActions.remove_channel
    ),
)  # fmt: skip
