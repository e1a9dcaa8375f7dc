"""The Alerts page: what is wrong, who is on it and who was told; the rules that say so and the channels that tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import structs
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from services.domain.alerts.incident import ANSWERED, CALMING, HISTORY_MOST, MUTED, OPEN, RESOLVED
from services.domain.alerts.rule import Rule
from services.domain.errors import UsageError
from services.domain.task.search.row_filter import Test
from services.i18n import N_, _, ngettext
from services.messages import told as explained
from services.monitor.alerts.queries import AlertQueries, AlertsNow, ChannelNow, IncidentNow, RuleNow
from views.context import PageContext
from views.kit.filter_choices import FilterChoices
from views.kit.list_page import ListPage
from views.kit.list_source import FIRST, MORE, Ask, ListSource
from views.kit.verb import Place, Verbs
from views.page import PageCommand
from views.pages.alerts import words
from views.pages.alerts.panel import AlertPanel
from views.pages.alerts.rule_strip import RuleStrip
from views.pages.alerts.table import (
    CHANNELS,
    FIELDS,
    INCIDENTS,
    NAMES,
    RULES,
    IncidentTable,
    grouped,
    headings,
    key_of,
    sought,
)
from views.pages.alerts.verbs import (
    CHANNEL_VERBS,
    INCIDENT_VERBS,
    RULE_VERBS,
    AlertActions,
    ChannelVerb,
    Chosen,
    IncidentVerb,
    RuleVerb,
)
from views.support import text
from views.support.instant import ticks
from views.support.keys import bind
from views.support.words.way import ALERTS_OF
from views.tables.at_rest import AtRest
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.layout import in_column, in_row, side_by_side
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip, Strip
from views.widgets.toast import ToastSpec

#: px that a rule takes below the list, at least and at most, and of the page at most
STRIP, STRIP_SHARE, LEAST_LIST = (220, 350), 0.52, 90
EVERY_MS, LEAST_VERB, LEAST_SEARCH = 1000, 44, 84
#: a page of this width has room for more than the number of channels
ROOMY = 1000
#: what verbs are called beside the switch of the views, which says what they are about (source texts)
BRIEF: Mapping[str, str] = {N_("Change the rule"): N_("Change"), N_("Copy rule"): N_("Copy")}
#: what each incident counts for, by field of the filter
COUNTED: Mapping[str, Callable[[IncidentNow], Iterable[str]]] = {
    "rule": lambda one: (one.incident.rule.name,),
    "platform": words.on_platforms,
    "shop": lambda one: one.incident.shops,
    "told": words.told_to,
}
OVER_MS = 10_000  #: so long what was calm is seen to be over before it leaves
#: of so long the resolved ones are counted, and so often, in ms
COUNTED_MS, COUNT_MS = 7 * 24 * 3_600_000, 600_000
INCIDENTS_VIEW, HISTORY_VIEW, RULES_VIEW, CHANNELS_VIEW = "incidents", "history", "rules", "channels"
_VIEWS = (
    (INCIDENTS_VIEW, N_("Active")),
    (HISTORY_VIEW, N_("History")),
    (RULES_VIEW, N_("Rules")),
    (CHANNELS_VIEW, N_("Channels")),
)
ACTIVE = "active"
_STATES = (
    (ACTIVE, N_("All")),
    (OPEN, N_("Not answered")),
    (ANSWERED, N_("Somebody is on it")),
    (MUTED, N_("Muted")),
)


class Wanted(msgspec.Struct, frozen=True):
    """What is shown: which view, and active incidents of which state."""

    view: str = INCIDENTS_VIEW
    state: str = ACTIVE


class Over(msgspec.Struct, frozen=True):
    """What was resolved: when the last one was (0 for never), how many were within ``COUNTED_MS``, and when that was
    asked, of which it is known while the same ``active`` ones are.
    """

    at_ms: int
    active: frozenset[str]
    last_ms: int = 0
    number: int = 0

    def holds(self, now: AlertsNow) -> bool:
        """Whether nothing can have been resolved since. All that is kept is read for it, so not each second."""
        return now.at_ms - self.at_ms < COUNT_MS and self.active <= _ids(now)


class Answer(msgspec.Struct, frozen=True):
    """What was found, for what was asked."""

    ask: Ask[Wanted]
    now: AlertsNow
    over: Over
    history: tuple[IncidentNow, ...] = ()
    rules: tuple[RuleNow, ...] = ()
    numbers: Mapping[str, Mapping[str, int]] = {}  #: how many incidents have what can be filtered for, by field


class AlertsPage(ListPage[IncidentNow]):
    """Incidents, those of the past with them, rules or channels, one at a time, and the panel of an incident; it shows,
    the process that leads sends.
    """

    page_id = "alerts"
    actions_of_page: AlertActions
    filter: FilterBar
    panel: AlertPanel
    table: IncidentTable

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Alerts"), context)
        self._now: AlertsNow | None = None
        self._history: tuple[IncidentNow, ...] = ()
        self.actions_of_page = acts = AlertActions(context, self)
        self.verbs: Verbs[IncidentVerb, Chosen] = Verbs(INCIDENT_VERBS, self._do, acts.barred)
        self.rule_verbs: Verbs[RuleVerb, RuleNow | None] = Verbs(RULE_VERBS, self._do, acts.barred)
        self.channel_verbs: Verbs[ChannelVerb, ChannelNow | None] = Verbs(CHANNEL_VERBS, self._do, acts.barred)
        self._model: RecordModel[IncidentNow] = RecordModel(
            INCIDENTS, key=key_of, hold_new=False, sentence=words.sentence
        )
        self._groups: dict[str, str] = {}  #: in which each stands, from top to bottom; none where they stand in none
        self._over: dict[str, IncidentNow] = {}  #: what was seen to calm down and is over since a moment
        self._rules: RecordModel[RuleNow] = RecordModel(
            RULES, key=lambda one: one.rule.name, hold_new=False, local_sort=True, sentence=words.rule_sentence
        )
        self._channels: RecordModel[ChannelNow] = RecordModel(
            CHANNELS, key=lambda one: one.channel.name, hold_new=False, sentence=words.channel_sentence
        )
        self._measure = ""  #: of which the worst incident is wished for, or the rule where it has none
        self._sought: Test = sought("")
        self._all = False  #: the past is looked through for a word or an id, so all of it is asked for
        self._whole = False  #: the past that is known is all that is kept
        self._failed = False  #: what was asked last has no answer
        self._said: tuple[Answer, bool] | None = None  #: what is shown, without the time of it, and whether it rested
        self._resolved: Over | None = None  #: None: not known
        self._strip: RuleStrip | None = None  #: a rule that is being changed
        self._saved_rule = ""  #: the cursor goes to it once it is in the list
        self._as_of = ""  #: the time of day that is shown while the connection is lost
        self._source = ListSource(self._call, Wanted(), self, every_ms=EVERY_MS, most=HISTORY_MOST)
        self.make(self._build, self._connect, lambda: self.set_summary(words.summary(None)), self._show_view)

    # the page

    def activate(self) -> None:
        """Follow what is wrong."""
        super().activate()
        self._choices.refresh()
        self.table.setFocus()

    def refresh(self) -> None:
        """Ask at once, and put everything in its place."""
        self._failed, self._resolved = False, None
        self._source.again()
        self._say()

    def show_request(self, request: object) -> None:
        """Show one incident by its id, one of the views, or after ``ALERTS_OF`` what concerns a measure."""
        asked = str(request or "")
        self._measure = asked.removeprefix(ALERTS_OF) if asked.startswith(ALERTS_OF) else ""
        if request in (HISTORY_VIEW, RULES_VIEW, CHANNELS_VIEW):
            self.views.set_current(str(request))
        else:
            self.views.set_current(INCIDENTS_VIEW)
            self.states.set_current(ACTIVE)
            self._wish = "" if self._measure else asked
            self.filter.set_expression("")
            self._sought = sought("")
        self._show_view()
        self._ask()

    def shown_request(self) -> str:
        """The incident in the panel, or which view."""
        if not self.panel.isHidden():  # also of a window that is hidden already
            return self.panel.key
        view = self.views.current()
        return "" if view == INCIDENTS_VIEW else view

    def commands(self) -> Sequence[PageCommand]:
        """What the palette offers: the verbs of the row under the cursor."""
        view = self.views.current()
        barred = self.actions_of_page.barred("admin")
        new, new_rule = (
            PageCommand(key=key, words=said, icon="ph.plus", reason=barred, run=run)
            for key, said, run in (
                ("alerts.channel.new", _("New channel"), self.actions_of_page.add_channel),
                ("alerts.rule.new", _("New rule"), self.actions_of_page.add_rule),
            )
        )
        if view == RULES_VIEW:
            rule = self.rule()
            name = words.rule_name(rule.rule) if rule is not None else ""
            return [new_rule, *self.rule_verbs.commands("alerts", rule, name)]
        if view == CHANNELS_VIEW:
            channel = self.channel()
            name = channel.channel.name if channel is not None else ""
            return [new, *self.channel_verbs.commands("alerts", channel, name)]
        one = self.incident()
        about = self.verbs.commands("alerts", one, one.incident.id) if one is not None else ()
        return [*about, new, new_rule]

    def stand_still(self, since: str) -> None:
        """People go on being told while this window knows nothing: say so."""
        super().stand_still(since)
        self._as_of = since
        self._say()

    def panes(self) -> Sequence[QWidget]:
        """Filter, table, the rule that is being changed, and panel."""
        strip = (self._strip,) if self._strip is not None else ()
        return (self.filter, self.stack, *strip, self.panel)

    def retranslate(self) -> None:
        """Say everything again."""
        super().retranslate()
        self._choices.retranslate()
        self._head_groups()

    def incident(self) -> IncidentNow | None:
        """The incident under the cursor."""
        return self._find(self.table.current_key())

    def rule(self) -> RuleNow | None:
        """The rule under the cursor."""
        key = self.rules.current_key()
        return self._rules.find(str(key)) if key is not None else None

    def channel(self) -> ChannelNow | None:
        """The channel under the cursor."""
        key = self.channels.current_key()
        return self._channels.find(str(key)) if key is not None else None

    # putting together

    def _build(self) -> Iterator[None]:
        self.views = Segmented(_VIEWS, N_("What to show"))
        self.header.add_views(self.views)
        self.buttons: dict[str, Button] = {}
        for verbs in (self.verbs, self.rule_verbs, self.channel_verbs):
            for verb in verbs.at(Place.BAR):
                brief, kind = BRIEF.get(verb.text, ""), "ghostdanger" if verb.danger else "ghost"
                button = Button(brief or verb.text, icon=verb.icon, kind=kind, tip=verb.text if brief else "")
                button.clicked.connect(partial(self._act, verb.key))
                self.buttons[verb.key] = button
                self.header.add_action(button)
        yield
        self.new_button = Button(N_("New channel"), icon="ph.plus")
        self.new_button.clicked.connect(self.actions_of_page.add_channel)
        self.new_rule_button = Button(N_("New rule"), icon="ph.plus")
        self.new_rule_button.clicked.connect(self.actions_of_page.add_rule)
        for button in (self.new_button, self.new_rule_button):
            self.header.add_action(button)
        for button in (*self.buttons.values(), self.new_button, self.new_rule_button):
            button.setMinimumWidth(LEAST_VERB)  # in a narrow window a verb is cut before the switch of the views
        yield
        self.states = Segmented(_STATES, N_("Which incidents"))
        self.news_button = Button("", kind="link")
        self.news_button.hide()
        example = "rule:dead_letters platform:temu -told:desktop"
        placeholder = N_("Incident or shop")
        self.filter = FilterBar(FIELDS, placeholder=placeholder, offers=len(FIELDS), names=NAMES, example=example)
        self.filter.lead(self.states, self.news_button)
        self.filter.field.setMinimumWidth(LEAST_SEARCH)
        self._choices = FilterChoices(self._context, self.filter, self, FIELDS)
        yield
        self.error, self.trouble = ErrorStrip(), Strip("warning")
        self.start_button = Button(N_("Show channels"), small=True)
        self.start_button.clicked.connect(partial(self.show_request, CHANNELS_VIEW))
        self.trouble.add_action(self.start_button)
        self.error.hide()
        self.trouble.hide()
        yield
        self.table = IncidentTable(self._model)
        self._rest = AtRest(self.table, cursor_is_set=True)
        yield
        self.rules = TableView(self._rules, name=N_("Rules"))
        self.channels = TableView(self._channels, name=N_("Channels"))
        yield
        self.empty = EmptyState(N_("Nothing to answer."), icon="ph.bell")
        self.no_channel = EmptyState(
            N_("No channel yet."),
            N_("A channel tells people who do not look here: DingTalk, Feishu, WeCom, Slack, mail, a webhook."),
            N_("New channel"),
            icon="ph.paper-plane-tilt",
        )
        yield
        self.stack = QStackedWidget()
        for widget in (self.table, self.rules, self.channels, self.empty, self.no_channel):
            self.stack.addWidget(widget)
        yield
        self.panel = AlertPanel(self.verbs, self._context)
        yield
        self.trouble_room = QWidget()
        in_row(self.trouble, owner=self.trouble_room, margins=(PAGE_MARGIN, 8, PAGE_MARGIN, 8))
        self.trouble_room.hide()
        self._strip_room = QWidget()
        self._strips = in_column(owner=self._strip_room)
        self._strip_room.hide()
        parts = (self.filter, self.error, self.trouble_room, self.stack, self._strip_room)
        yield from side_by_side(self.body, parts, self.stack, self.panel, self.panel.build())
        yield
        self._unknown = self.covered(self.stack)
        self._unknown.ask(Wanted())

    def _connect(self) -> None:
        # looking
        self.views.chosen.connect(lambda _key: self._on_view())
        self.states.chosen.connect(lambda _key: self._ask())
        self.news_button.clicked.connect(lambda: self._fill(settle=True))
        self.filter.changed.connect(self._on_filter)
        self.table.near_end.connect(self._load_more)
        self._connect_list()
        self.empty.action.connect(self._show_all)
        self.no_channel.action.connect(self.actions_of_page.add_channel)
        ticks().tell(self, self._on_tick)
        # choosing
        self.table.current_changed.connect(lambda _key: self._say_rights())
        self.table.peek_requested.connect(self._toggle)
        self.table.open_requested.connect(self._open)
        self.table.step_wanted.connect(self._step)
        for table in (self.rules, self.channels):
            table.current_changed.connect(lambda _key: self._say_rights())
        self.rules.open_requested.connect(lambda _key: self._act("rule.edit"))
        self.channels.open_requested.connect(lambda _key: self._act("channel.edit"))
        self.table.menu_requested.connect(self._fill_menu)
        self.rules.menu_requested.connect(self._fill_rule_menu)
        self.channels.menu_requested.connect(self._fill_channel_menu)
        # acting
        self.actions_of_page.strip_made.connect(self._show_strip)
        self.panel.closed.connect(self._close_panel)
        self.panel.rule_wanted.connect(self.actions_of_page.open_rule)
        self._context.feed.changed.connect(self.panel.evidence.follow)
        self.panel.promise_wanted.connect(lambda name: self.navigate.emit("promises", name))
        self.panel.task_wanted.connect(lambda name: self.navigate.emit("tasks", name))
        self.verbs.bind(self.table, self.incident)
        bind(self, {"Esc": self._leave})

    # looking

    def _on_view(self) -> None:
        self._measure = ""  # a person looks elsewhere now
        self._show_view()
        self._ask()

    def _ask(self) -> None:
        view = self.views.current()
        wanted = Wanted(view, self.states.current() if view == INCIDENTS_VIEW else ACTIVE)
        self._unknown.ask(wanted)
        self._all, self._failed = self._looks_back(), False
        self._source.ask(wanted, HISTORY_MOST if self._all else FIRST)

    def _on_filter(self, expression: str) -> None:
        try:
            self._sought = sought(expression)
        except UsageError as exc:
            self.filter.show_problem(explained(exc))
            return
        self.filter.clear_problem()
        if self._looks_back() != self._all:
            self._ask()
        self._fill(settle=True)

    def _looks_back(self) -> bool:
        return self.views.current() == HISTORY_VIEW and bool(self._wish or self.filter.expression())

    def _load_more(self) -> None:
        if self.views.current() == HISTORY_VIEW:
            self._source.more(len(self._history))

    def _call(self, ask: Ask[Wanted]) -> Callable[[], Answer]:
        return partial(_look, self._context.alerts, ask, self._resolved, rules=self._strip is not None)

    def _show_error(self, error: BaseException) -> None:
        super()._show_error(error)
        self._failed = True
        self._say()

    def _show(self, answer: Answer) -> None:
        self.error.clear()
        self.actions_of_page.named = words.receivers(answer.now.channels)
        self._resolved = answer.over
        over_ = structs.replace(answer.over, at_ms=0, active=frozenset())
        said = (structs.replace(answer, now=structs.replace(answer.now, at_ms=0), over=over_), self._resting)
        before, over = None if self._failed else self._said, self._over
        self._failed = False
        self._unknown.answer(answer.ask.wanted)
        self._note_over(answer.now)
        if self._strip is not None and answer.rules:
            self._strip.follow(one.rule for one in answer.rules)
        if said == before and self._over == over and not answer.ask.settle:
            self._now = answer.now  # only time has passed, of which cells and panel tell by themselves
            if self.empty.isVisible():
                self._say_empty()
            return
        self._said = said
        self._now, self._history = answer.now, answer.history
        self._offer(answer.numbers)
        limit = answer.ask.limit
        self._whole = answer.ask.wanted.view == HISTORY_VIEW and (len(answer.history) < limit or limit >= HISTORY_MOST)
        if answer.ask.wanted.view == RULES_VIEW:
            self._rules.apply(answer.rules)
            if self._saved_rule and self.rules.set_current_key(self._saved_rule):
                self._saved_rule = ""
            _begin(self.rules)
        if answer.ask.wanted.view == CHANNELS_VIEW:
            self._channels.apply(answer.now.channels)
            _begin(self.channels)
        if self._measure and answer.ask.settle:
            self._go_to_measure(answer)
        self._fill(settle=answer.ask.settle or self._resting)
        self._look_further(answer.ask)

    def _offer(self, numbers: Mapping[str, Mapping[str, int]]) -> None:
        for field, of_values in numbers.items():
            self._choices.tell(field, of_values)
        self._choices.offer("told", numbers["told"], words.GROUPS)

    def _go_to_measure(self, answer: Answer) -> None:
        """To the first incident that concerns it; where all is well, to the rule that would say otherwise."""
        measure = self._measure
        if answer.ask.wanted.view == RULES_VIEW:
            self._measure = ""
            self.rules.set_current_key(next((r.rule.name for r in answer.rules if r.rule.measure == measure), ""))
            return
        told = [one.incident for one in answer.now.incidents if one.incident.id]
        found = next((one.id for one in told if measure in (one.rule.measure, *one.sources)), "")
        if found:
            self._measure, self._wish = "", found
        else:
            self.views.set_current(RULES_VIEW)
            self._show_view()
            self._ask()

    def _note_over(self, now: AlertsNow) -> None:
        """Calm incidents leave when they are resolved, a moment after that can be seen."""
        # what went while nobody looked at this page was over long ago
        seen = self._now is not None and now.at_ms - self._now.at_ms < OVER_MS
        before = self._now.incidents if seen and self._now is not None else ()
        there = {one.incident.id for one in now.incidents}
        self._over = {
            name: one
            for name, one in self._over.items()
            if name not in there and now.at_ms - one.incident.resolved_at < OVER_MS
        }
        for one in before:
            if one.state == CALMING and one.incident.id and one.incident.id not in there:
                over = structs.replace(one.incident, resolved_at=now.at_ms)
                self._over[one.incident.id] = replace(one, incident=over, state=RESOLVED, resolves_at=0)

    def _look_further(self, ask: Ask[Wanted]) -> None:
        """The incident that is wished for is over, or nobody knows it any more."""
        if not self._wish or not ask.settle or ask.wanted not in (Wanted(), Wanted(HISTORY_VIEW)):
            return
        if ask.wanted.view == HISTORY_VIEW:
            self._wish = ""
        self.views.set_current(HISTORY_VIEW if self._wish else INCIDENTS_VIEW)
        self._show_view()
        self._ask()

    def _fill(self, *, settle: bool) -> None:
        """Those of the state and the words that are asked for."""
        now = self._now
        if now is None:
            return
        state, past = self.states.current(), self.views.current() == HISTORY_VIEW
        if past:  # what is not over yet, and then what is
            rows = (*(one for one in now.incidents if one.incident.id), *self._history)
        else:
            rows = tuple(one for one in now.incidents if _fits(one, state))
            rows = (*rows, *self._over.values()) if state == ACTIVE else rows
        rows = tuple(filter(self._sought, rows))
        rows = rows if settle or past else self._known_of(rows)
        if state == ACTIVE and not past:
            self._groups = grouped(rows, {} if settle else self._groups)
            found = {key_of(one): one for one in rows}
            self._model.apply([found[key] for key in self._groups], settle=True)
        else:
            self._groups = {}
            self._model.apply(rows, settle=settle)
        self._head_groups()
        if self._wish and self.table.set_current_key(self._wish):
            self._wish = ""
            self._open(self.table.current_key())
            if self._all and not self._looks_back():  # what is older than it is loaded as it is scrolled
                self._all = False
                self._source.keep(self.table.currentIndex().row() + MORE)
        _begin(self.table)
        self._say()

    def _known_of(self, rows: tuple[IncidentNow, ...]) -> tuple[IncidentNow, ...]:
        """Without what came since somebody is at work here: it would move what they are about to click."""
        there = {key_of(one) for one in self._model.records()}
        known = tuple(one for one in rows if there & {key_of(one), one.incident.key})  # told of by now, it has an id
        return known or rows  # where none of those is left, nothing moves

    def _say_news(self) -> None:
        now, number = self._now, 0
        there = {key_of(one) for one in self._model.records()}
        if now is not None and self.views.current() == INCIDENTS_VIEW:
            state = self.states.current()
            fits = (one for one in filter(self._sought, now.incidents) if _fits(one, state))
            number = sum(key_of(one) not in there for one in fits)
        self.news_button.set_count_text(ngettext("{n} new incident", "{n} new incidents", number).format(n=number))
        self.news_button.setVisible(number > 0)

    def _head_groups(self) -> None:
        self._model.set_headings(headings(self._groups, self._model.records()))

    def _on_tick(self) -> None:
        """Say again how far away everything is."""
        if self._source.active and self.panel.isVisible():
            self.panel.show_incident(self.incident())

    def _say(self) -> None:
        now = self._now
        self._say_news()
        self.set_summary(words.summary(now))
        if now is not None:
            for state in (OPEN, ANSWERED, MUTED):
                number = sum(_fits(one, state) for one in now.incidents)
                self.states.set_suffix(state, text.compact(number) if number else "")
            self.views.set_suffix(INCIDENTS_VIEW, text.compact(len(now.incidents)) if now.incidents else "")
            number = self._resolved.number if self._resolved is not None else 0
            self.views.set_suffix(HISTORY_VIEW, _("{n} in 7 d").format(n=text.compact(number)) if number else "")
            self._say_channels()
            trouble, lead = words.stale(self._as_of) if self._as_of else (words.trouble(now), "")
            self.trouble.show_text(trouble, lead)
            self.trouble_room.setVisible(bool(trouble))
            can_lead = bool(now.watcher) and not self._as_of and self.views.current() != CHANNELS_VIEW
            self.start_button.setVisible(can_lead)
            self._say_empty()
        self._show_view()

    def _say_empty(self) -> None:
        self.empty.show_fact("")
        if self._looks_back() and not self._whole:
            looking, failed = N_("Looking through all that was resolved …"), N_("Not all that was resolved is known.")
            self.empty.set_texts(failed if self._failed else looking)
            return
        past = self.views.current() == HISTORY_VIEW
        if self.filter.expression() or (self.states.current() != ACTIVE and not past):
            self.empty.set_texts(N_("No incident matches."), N_("Look for another word or state."), N_("Show all"))
        elif past:
            self.empty.set_texts(N_("Nothing was resolved yet."), N_("Incidents that are over stay here for 90 days."))
        else:
            hint = N_("The process that leads looks every few seconds, and tells the channels.")
            self.empty.set_texts(N_("Nothing to answer."), hint)
            self.empty.show_fact(words.last_resolved(self._resolved.last_ms if self._resolved is not None else 0))

    def _show_view(self) -> None:
        view = self.views.current()
        on_incidents = view in (INCIDENTS_VIEW, HISTORY_VIEW)
        self.filter.setVisible(on_incidents)
        self.states.setVisible(view == INCIDENTS_VIEW)
        if on_incidents:
            known = self._now is not None
            self.stack.setCurrentWidget(self.empty if known and not self._model.rowCount() else self.table)
        elif view == RULES_VIEW:
            self.stack.setCurrentWidget(self.rules)
        else:
            none = self._now is not None and not self._now.channels
            self.stack.setCurrentWidget(self.no_channel if none else self.channels)
        if not on_incidents:
            self.panel.hide()
        self._say_rights()

    def _say_rights(self) -> None:
        view = self.views.current()
        offered = (
            (view in (INCIDENTS_VIEW, HISTORY_VIEW), self.verbs.offers(Place.BAR, self.incident())),
            (view == RULES_VIEW, self.rule_verbs.offers(Place.BAR, self.rule())),
            (view == CHANNELS_VIEW, self.channel_verbs.offers(Place.BAR, self.channel())),
        )
        for here, offers in offered:
            for one in offers:
                button = self.buttons[one.verb.key]
                button.set_source(BRIEF.get(one.name, one.name))
                button.disable(one.reason)
                # the panel of an incident has the same verbs
                button.setVisible(here and one.shown and not self.panel.isVisible())
        barred = self.actions_of_page.barred("admin")
        self.new_button.setVisible(view == CHANNELS_VIEW)
        self.new_button.disable(barred)
        self.new_rule_button.setVisible(view == RULES_VIEW)
        self.new_rule_button.disable(barred)
        self.no_channel.button.disable(barred)
        if self._strip is not None:
            self._strip.bar(barred)
        if self.panel.isVisible():
            self.panel.show_incident(self.incident())

    def _show_all(self) -> None:
        self.states.set_current(ACTIVE)
        self.filter.clear()
        self._ask()

    # one incident

    def _toggle(self, key: object) -> None:
        if self.panel.isVisible() and self.panel.key == key:
            self._close_panel()
        else:
            self._peek()

    def _peek(self) -> None:
        one = self.incident()
        if one is not None:
            self.panel.show()
            self._say_rights()

    def _open(self, key: object) -> None:
        if self._find(key) is not None:
            self._peek()
            self.panel.focus_first()

    # a rule

    def _show_strip(self, strip: RuleStrip) -> None:
        """Show a rule that is to be changed below the list, unless what was typed into another is not to be lost."""
        if self._strip is not None:
            self._strip.reject()
        if self._strip is not None:
            strip.deleteLater()
            return
        self._strip = strip
        self._strips.addWidget(strip)
        strip.finished.connect(self._on_strip_left)
        strip.saved.connect(self._on_rule_saved)
        self._fit_strip()
        self.stack.setMinimumHeight(LEAST_LIST)  # in a low window the list gives way, not the buttons below the rule
        self._strip_room.show()
        strip.show()
        self._say_rights()

    def _on_strip_left(self) -> None:
        self._strip = None
        self._strip_room.hide()
        self.stack.setMinimumHeight(0)
        if self.isVisible():  # else it would take the keyboard away from the page that is seen
            table = self.rules if self.views.current() == RULES_VIEW else self.table
            table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_rule_saved(self, made: Rule, _before: Rule) -> None:
        self._saved_rule = made.name

    def _fit_strip(self) -> None:
        least, most = (round(part * theme().growth) for part in STRIP)
        self._strip_room.setFixedHeight(max(least, min(most, round(self.height() * STRIP_SHARE))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the list its share."""
        super().resizeEvent(event)
        self._fit_strip()
        self._say_channels()

    def _say_channels(self) -> None:
        """Which of them has messages that wait stands in their list, too: with little room the verbs need it more."""
        found = self._now.channels if self._now is not None else ()
        roomy = self.width() >= round(ROOMY * theme().growth)
        number = text.count(len(found)) if found else ""
        self.views.set_suffix(CHANNELS_VIEW, words.channels_suffix(found) if roomy else number)

    def _leave(self) -> None:
        """Leave the rule in whose fields the keyboard is, else the panel."""
        if self._strip is not None and self._strip.isAncestorOf(self.focusWidget()):
            self._strip.reject()
        else:
            self._close_panel()

    def _close_panel(self) -> None:
        if self.panel.isVisible():
            self.panel.hide()
            self._say_rights()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    # acting

    def _act(self, key: str, _checked: bool = False) -> None:
        if key.startswith("rule."):
            self.rule_verbs.act(key, self.rule())
        elif key.startswith("channel."):
            self.channel_verbs.act(key, self.channel())
        else:
            self.verbs.act(key, self.incident())

    def _step(self, key: object, verb: IncidentVerb) -> None:
        one = self._find(key)
        if why := self.verbs.reason(verb, one):
            self._context.toast(ToastSpec(text=why, status="warning"))
        else:
            self.verbs.act(verb.key, one)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        one = self._find(key)
        if one is not None:
            menu.addAction(_("Show the whole incident"), lambda: self._open(key))
            self.verbs.fill(menu, one)

    def _fill_rule_menu(self, menu: QMenu, _key: object) -> None:
        self.rule_verbs.fill(menu, self.rule())

    def _fill_channel_menu(self, menu: QMenu, _key: object) -> None:
        self.channel_verbs.fill(menu, self.channel())


def _fits(one: IncidentNow, state: str) -> bool:
    """What nobody was told of yet and what calms down stand among the active ones only."""
    return state in (ACTIVE, one.state)


def _begin(table: TableView) -> None:
    """Put the cursor on the first row where it is on none."""
    if table.current_key() is None and table.records.rowCount():
        table.set_current_key(table.records.key_at(0))


def _ids(now: AlertsNow) -> frozenset[str]:
    return frozenset(one.incident.id for one in now.incidents)


def _look(queries: AlertQueries, ask: Ask[Wanted], over: Over | None, *, rules: bool) -> Answer:
    wanted = ask.wanted
    resolved = wanted.view == HISTORY_VIEW
    now = queries.now(addresses=wanted.view == CHANNELS_VIEW)
    if over is not None and over.holds(now):
        over = structs.replace(over, active=_ids(now))
    else:
        over = Over(now.at_ms, _ids(now), *queries.over(COUNTED_MS))
    return Answer(
        ask,
        now,
        over,
        queries.history(ask.limit) if resolved else (),
        queries.rules() if rules or wanted.view == RULES_VIEW else (),
        {field: Counter(value for one in now.incidents for value in read(one)) for field, read in COUNTED.items()},
    )
