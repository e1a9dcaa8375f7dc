"""The Audit page: who did what, when, to what, and how it ended; and whether all of it is as it was written.

Takes the trail out of the window: what matches, as a file for a spreadsheet.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from services import act_words
from services.commands.back.ways import Way, since, take_back
from services.commands.outcome import Outcome
from services.domain.alerts.incident import CALMING, RESOLVED
from services.domain.audit import AuditEntry
from services.domain.insight.audit import Verdict
from services.domain.text.message import Message
from services.i18n import N_, _, ngettext
from services.messages import render, told
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertQueries
from services.monitor.audit import AuditQueries
from services.monitor.files import audit
from views.context import PageContext
from views.dialogs.confirm import Question, confirm, typed_count
from views.dialogs.file import FileDialog
from views.kit import exporting
from views.kit.entries_page import EntriesPage, Listing
from views.kit.filter_tabs import FilterTabs
from views.kit.task_acting import barred
from views.pages.audit import words
from views.pages.audit.panel import AuditPanel
from views.pages.audit.strip import NOTHING, DayStrip, Ring
from views.pages.audit.table import BACK, COLUMNS, FIELDS, AuditLine, AuditLister, condition, sentence
from views.shell.health_popover import HealthDetail, HealthPopover
from views.support import instant, safe, shown, text
from views.support.acting import HOLD_MANY_S, Acting
from views.support.operation import Operation
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import PAGE_MARGIN
from views.widgets.buttons import Button, IconButton
from views.widgets.empty_state import EmptyState
from views.widgets.filter.bar import FilterBar
from views.widgets.filter.text import Chip, split
from views.widgets.layout import in_row, side_by_side, stacked
from views.widgets.segmented import Segmented
from views.widgets.strip import ErrorStrip, Strip
from views.widgets.toast import ToastSpec, failure, lasting
from views.widgets.view_tabs import ViewTabs

#: of the messages that tell of an export: each takes the place of the one before
EXPORT = "audit.export"
#: the verb of what is about to be taken back, with the key of the entry
HELD = "audit.back"


class TakingBack(QObject):
    """Signals:
    looked: what was done to an object since is known now: the key of its entry.
    changed: something was taken back, or that failed; ask again.
    """

    looked = Signal(str)
    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self.acting = Acting(owner, context.toast, context.pending)
        self.acting.ended.connect(self.changed)
        self._looking = Operation(self, latest=True)
        self._since: dict[str, Message | None] = {}
        self._forbidden = ""

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def look(self, row: AuditLine) -> None:
        """Ask what was done to its objects since, where that decides."""
        if isinstance(row.back, Way):
            self._looking.start(partial(since, self._context.audit, row.entry), partial(self._know, row.key))

    def _know(self, key: str, why: Message | None) -> None:
        self._since[key] = why
        self.looked.emit(key)

    def reason(self, row: AuditLine) -> str:
        """Why it cannot be taken back from here, translated; "" where it can, as far as that is known."""
        if row.undone_at:
            when = shown.clock(row.undone_at, instant.now_ms())
            said = _("It was taken back in part at {time}.") if row.undone_part else _("It was taken back at {time}.")
            return said.format(time=when)
        if isinstance(row.back, Message):
            return text.first_up(render(row.back))
        if (found := self._since.get(row.key)) is not None:
            return text.first_up(render(found))
        return barred(self._context, self._forbidden, row.back.role)

    def ask(self, row: AuditLine) -> None:
        """Say what will happen; what can be done only is done once a person wants it."""
        if isinstance(row.back, Message) or self.reason(row):
            return
        if not self.acting.free(HELD, [row.key]):
            return
        entry, way, objects = row.entry, row.back, row.taken_back
        n, removes = way.number, way.by.endswith(".remove")

        def question() -> Question:
            facts = [
                (_("Act"), act_words.act(entry.action)),
                (_("Person"), entry.who),
                (_("Time"), shown.clock(entry.at, instant.now_ms())),
                (_("Object"), words.about(objects, n)),
                (_("Taken back by"), act_words.act(way.by)),
            ]
            if n < way.asked:
                facts.insert(4, (_("Done then"), words.of_asked(way)))
            return Question(
                title=N_("Take an act back"),
                number=ngettext("{n} object", "{n} objects", n).format(n=text.count(n)) if n > 1 else "",
                text=_("It is done in your name, and has an entry of its own."),
                rows=tuple(facts),
                verb=act_words.act(way.by),
                danger=removes,
                typed=objects[0] if removes and n == 1 else typed_count(n, self._context.environment),
            )

        confirm(question, self._owner, partial(self._go, row, way))

    def _go(self, row: AuditLine, way: Way) -> None:
        call = partial(take_back, self._context.commands, self._context.audit, row.entry)

        def done(outcome: Outcome) -> str:
            n = len(outcome.done) + len(outcome.pending)
            back = ngettext("Taken back: {act}, {n} object.", "Taken back: {act}, {n} objects.", n)
            return back.format(act=act_words.act(row.entry.action), n=text.count(n))

        if way.begins:
            self.acting.delayed(
                lambda: _("{act} in {s} s").format(act=act_words.act(way.by), s=HOLD_MANY_S),
                call,
                done,
                HOLD_MANY_S,
                about=[(HELD, row.key)],
            )
        else:
            self.acting.at_once(call, done)


class AuditSharing(QObject):
    """Signals:
    exported: a file stands at this path (``Path``).
    """

    exported = Signal(object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._exporting = Operation(self, lasting=True)
        self._stop = threading.Event()
        self.broken: frozenset[str] = frozenset()  #: entries that the last check found not to be as they were written

    def ask_file(self, expression: str) -> None:
        """Ask where to."""
        forms = [_("Table") + " (*.csv)", _("Lines of JSON with all seals") + " (*.jsonl)"]
        write = partial(self.write, expression=expression)
        FileDialog(self._owner, _("Export all that match"), write, forms=forms).write("audit.csv")

    def write(self, path: Path, expression: str) -> None:
        """Write the file in the background; one at a time."""
        if self._exporting.busy:
            self._context.toast(ToastSpec(text=_("An export is under way; wait for it or stop it"), status="warning"))
            return
        self._stop = threading.Event()
        self._context.toast(lasting(partial(exporting.under_way, path, self._stop.set, EXPORT)))
        call = partial(_write, self._context.audit, path, expression, self._stop, self.broken)
        self._exporting.start(call, partial(self._tell_done, path), self._tell_failed)

    def _tell_done(self, path: Path, written: tuple[int, int]) -> None:
        self._context.toast(lasting(partial(_exported, path, *written)))
        self.exported.emit(path)

    def _tell_failed(self, error: BaseException) -> None:
        if isinstance(error, audit.Stopped):
            self._context.toast(lasting(partial(exporting.stopped, EXPORT)))
            return
        self._context.toast(failure(error, N_("The export failed."), key=EXPORT))


def _exported(path: Path, number: int, broken: int) -> ToastSpec:
    """``broken``: entries that are not as they were written."""
    words = ngettext("{n} entry exported to {file}", "{n} entries exported to {file}", number)
    said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
    show = exporting.folder_of(path)
    if not broken:
        return ToastSpec(text=said, actions=(show,), seconds=10, key=EXPORT)
    detail = ngettext(
        "{n} entry is not as it was written; what stands there now is exported, with its seal.",
        "{n} entries are not as they were written; what stands there now is exported, with the seals.",
        broken,
    ).format(n=text.count(broken))
    return ToastSpec(text=said, detail=detail, status="warning", actions=(show,), seconds=20, key=EXPORT)


def _write(
    queries: AuditQueries, path: Path, expression: str, stop: threading.Event, broken: frozenset[str]
) -> tuple[int, int]:
    """How many entries there are in the file, and how many of ``broken`` are among them."""
    met = set[str]()

    def each() -> Iterator[AuditEntry]:
        for entry in queries.each(expression, stop):
            if entry.entry_id in broken:
                met.add(entry.entry_id)
            yield entry

    return audit.write(each(), path, shown.zone(), queries.now_ms(), stop=stop), len(met)


#: how often the day is counted anew; a window below this height has no room for it
COUNT_MS, LOW = 15_000, 560
#: from this width on the state of the chain is told whole
WIDE = 1250
ALL = "all"
SPANS = (("7d", N_("7 d")), ("90d", N_("90 d")), (ALL, N_("All")))
#: faults told in the strip; each stands at its entry too
MOST_FAULTS = 3


class AuditPage(EntriesPage[AuditLine]):
    """The trail of the present connection, the newest act first."""

    page_id = "audit"
    NO_MATCH, NOTHING = N_("No entry matches."), N_("Nothing was done yet.")
    HINT = N_("Every act that changes something is written here before it is done, with how it ended.")

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Audit"))
        self._context = context
        self._faults: dict[str, tuple[str, ...]] = {}
        self._verdict: tuple[Verdict, int] | None = None
        self._unchecked: BaseException | None = None  #: why the last check could not be made
        self.popover: HealthPopover | None = None
        self._lister = AuditLister(context.audit, context.causes, context.shops, self)
        self.sharing = AuditSharing(context, self)
        self.taking_back = TakingBack(context, self)
        self._checking = Operation(self, lasting=True)
        self._counting, self._ringing = Operation(self, latest=True), Operation(self, latest=True)
        self._recount = QTimer(self, interval=COUNT_MS)
        self._model: RecordModel[AuditLine] = RecordModel(COLUMNS, key=lambda row: row.key, sentence=sentence)
        self.make(self._build, self._connect, self._begin)

    def _begin(self) -> None:
        self.spans.set_current(ALL)
        self.set_summary(_("Loading…"))

    def _build(self) -> Iterator[None]:
        self.spans = Segmented(SPANS, N_("How far back"))
        self.header.add_action(self.spans)
        self.verify_button = Button(N_("Verify"), icon="ph.shield-check")
        self.export_button = Button(N_("Export"), icon="ph.export", shortcut="audit.export")
        self.chain_button = Button("", icon="ph.shield", tip=N_("Writers of the trail, and the last check"))
        for button in (self.chain_button, self.verify_button, self.export_button):
            self.header.add_action(button)
        yield
        self.filter = FilterBar(FIELDS, placeholder=N_("Anything in an entry"), offers=len(FIELDS))
        yield
        self.new_button = Button("", kind="link")
        self.new_button.hide()
        self.filter.add_action(self.new_button)
        self.tabs = ViewTabs(shares=False)
        me = self._context.commands.operator.who
        self.views = FilterTabs(
            self.tabs, self._context.memory, words.views(me), "audit", self, self._context.toast, self.filter.said
        )
        self.error = ErrorStrip()
        self.error.hide()
        self.result = Strip("succeeded")
        self.dismiss_button = IconButton("ph.x", N_("Close"))
        self.result.add_action(self.dismiss_button)
        self.result_room = QWidget()
        in_row(self.result, owner=self.result_room, margins=(PAGE_MARGIN, 8, PAGE_MARGIN, 8))
        self.result_room.hide()
        yield
        self.table = TableView(self._model, name=N_("Audit"))
        yield
        self.empty = EmptyState(self.NOTHING, icon="ph.clipboard-text")
        self.stack = stacked(self.table, self.empty)
        self._unknown = self.covered(self.stack)
        yield
        self.panel = AuditPanel()
        yield
        self.day = DayStrip()
        self.day_room = QWidget()
        in_row(self.day, owner=self.day_room, margins=(PAGE_MARGIN, 0, PAGE_MARGIN, 8))
        self.body.addWidget(self.day_room)
        yield
        parts = (self.tabs, self.filter, self.error, self.result_room, self.stack)
        yield from side_by_side(self.body, parts, self.stack, self.panel, self.panel.build())

    def _connect(self) -> None:
        self._connect_entries()
        self._unknown.changed.connect(self._place_day)
        self.filter.changed.connect(self._ask)
        self.spans.chosen.connect(self.show_span)
        self.views.wanted.connect(super().show_request)
        self.day.bars.chosen.connect(self.show_stretch)
        self.day.bars.dropped.connect(lambda: self.filter.narrow({"since": "", "until": ""}))
        self.day.bars.rung.connect(lambda incident: self.navigate.emit("alerts", incident))
        self._recount.timeout.connect(self._count)
        self.export_button.clicked.connect(lambda: self.sharing.ask_file(self.filter.expression()))
        self.verify_button.clicked.connect(self.verify)
        self.chain_button.clicked.connect(self.show_chain)
        self.dismiss_button.clicked.connect(self.result_room.hide)
        self.panel.filter_wanted.connect(self.show_target)
        self.panel.tasks_wanted.connect(partial(self.navigate.emit, "tasks"))
        self.panel.back_wanted.connect(self._take_back)
        self.table.clicked.connect(self._on_clicked)
        self.taking_back.looked.connect(lambda _key: self._say_back())
        self.taking_back.changed.connect(self._look_again)

    def activate(self) -> None:
        """Follow what is done."""
        self._unknown.ask(self.filter.expression())
        self._lister.set_active(True)
        self._count()
        self._recount.start()
        self.table.setFocus()

    def deactivate(self) -> None:
        """Follow no more."""
        self._lister.set_active(False)
        self._recount.stop()

    def refresh(self) -> None:
        """Ask again, newest first."""
        self._lister.again()
        self._count()

    def show_stretch(self, begin_ms: int, end_ms: int) -> None:
        """Only acts of this stretch of time."""
        self.filter.narrow(_terms(begin_ms, end_ms))

    def show_span(self, span: str) -> None:
        """Only acts since a span before now, "all" for every one."""
        self.filter.narrow({"since": "" if span == ALL else span, "until": ""})

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the day out of a low window: the list comes first."""
        super().resizeEvent(event)
        self._place_day()
        self._say_chain()

    def _place_day(self) -> None:
        """Nor is there a day while nobody knows what belongs here."""
        self.day_room.setVisible(self.height() >= LOW and self._unknown.isHidden())

    def _count(self) -> None:
        self._counting.start(self._context.audit.day, self.day.show_day, lambda _error: self.day.show_day(NOTHING))
        self._ringing.start(partial(_rings, self._context.alerts), self.day.bars.show_rings, lambda _error: None)

    def _ask(self, expression: str) -> None:
        stretch = self.day.bars.stretch
        chips = split(expression, ("since", "until"))[0]
        if stretch is not None and set(chips) != {Chip(field, (at,)) for field, at in _terms(*stretch).items()}:
            self.day.bars.clear()
        self._say_span(chips)
        self.views.follow(expression)
        self._unknown.ask(expression)
        self._lister.ask(expression)

    def _say_nothing(self, expression: str) -> None:
        """Where only a time was asked for, nobody did anything then."""
        chips, rest = split(expression, ("since", "until"))
        super()._say_nothing(expression)
        if chips and not rest:
            self.empty.set_texts(N_("Nobody acted in this time."), "", N_("Clear time"))
            self.empty.show_fact(text.listed(map(words.time, chips)))
        else:
            self.empty.show_fact("")

    def _say_span(self, chips: Sequence[Chip]) -> None:
        """Which of the spans it is, if it is one."""
        known = {f"since:{span}": span for span, _word in SPANS}
        written = " ".join(chip.text() for chip in chips)
        if span := known.get(written, "" if chips else ALL):
            self.spans.set_current(span)
        else:
            self.spans.set_none()

    def show_request(self, request: object) -> None:
        """Show what matches a filter that somebody asks for, whichever view stood there."""
        self.views.leave()
        super().show_request(request)

    def show_target(self, target: str) -> None:
        """Only acts on this object."""
        self.show_request(history_of(target))

    def undo(self, after: int = 0) -> bool:
        """Take back what was just done, or ask whether the act under the cursor, or in the panel, shall be."""
        if self.taking_back.acting.undo(after):
            return True
        asks = not after and (self.table.hasFocus() or self.panel.isAncestorOf(QApplication.focusWidget()))
        if asks:
            self._take_back()
        return asks

    def set_acting(self, reason: str) -> None:
        """Change nothing while that is not allowed."""
        self.taking_back.forbid(reason)
        self._say_back()

    def retranslate(self) -> None:
        super().retranslate()
        self.views.retranslate()
        self._say()
        self._say_news()
        self._say_verdict()
        self._say_back()

    def verify(self) -> None:
        """Look whether the whole trail is as it was written, off the GUI thread."""
        if self._checking.busy:
            return
        self.verify_button.wait(_("The trail is being checked"))
        self.result.set_status("running")
        self.result.show_text(_("All entries are read, which takes a while where there are many."), _("Checking"))
        self.result_room.show()
        self._checking.start(self._context.audit.verify, self._on_verdict, self._on_unchecked)

    def _on_verdict(self, found: Verdict) -> None:
        self.verify_button.disable("")
        self._verdict, self._unchecked = (found, instant.now_ms()), None
        self.sharing.broken = frozenset(wrong.entry_id for wrong in found.wrong)
        self._say_verdict()
        if found.wrong:
            self._lister.again()  # what stands there now, not what was read before somebody altered it

    def _on_unchecked(self, error: BaseException) -> None:
        self.verify_button.disable("")
        self._unchecked = error  # what an earlier check found was so at its time
        self._say_verdict()

    def show_chain(self) -> None:
        """Tell below the button who wrote the trail, up to where, and what the last check found."""
        now = instant.now_ms()
        found, at_ms = self._verdict if self._verdict is not None else (None, 0)
        rows = [(_("Last check"), shown.clock(at_ms, now) or _("none in this window"))]
        if found is not None:
            rows.append((_("Entries"), text.count(found.rows)))
            rows.append((_("Writers"), text.count(found.writers)))
            rows += words.writers(found, now)
        verbs = [] if self._checking.busy else [(_("Verify now"), self.verify)]
        if found is not None:
            verbs.insert(0, (_("Show what it found"), self.result_room.show))
        good = found is not None and found.ok and not found.sight_lost
        part = HealthDetail(
            title=_("Chain of the trail"),
            state="healthy" if good else "unknown" if found is None else "warning" if found.ok else "dead",
            words=_("being checked") if self._checking.busy else words.chain(found, at_ms),
            rows=tuple(rows),
            verbs=tuple(verbs),
        )
        self.popover = HealthPopover(part, self.window())
        self.popover.show_below(self.chain_button.mapToGlobal(self.chain_button.rect().bottomLeft()))

    def _say_chain(self) -> None:
        found, at_ms = self._verdict if self._verdict is not None else (None, 0)
        good = found is not None and found.ok and not found.sight_lost
        kind = "plain" if found is None or good else "warning" if found.ok else "danger"
        self.chain_button.set_kind(kind)
        self.chain_button.set_glyph(
            "ph.shield" if found is None else "ph.shield-check" if good else "ph.shield-warning"
        )
        self.chain_button.set_count_text(words.chain(found, at_ms, whole=self.width() >= WIDE))

    def _say_verdict(self) -> None:
        self._say_chain()
        if self._unchecked is not None:
            self.result.set_status("warning")
            self.result.show_text(told(self._unchecked), _("Not checked"))
            return
        if self._verdict is None:
            return
        found, at_ms = self._verdict
        faults: dict[str, list[str]] = defaultdict(list)
        for one in found.wrong:
            faults[one.entry_id].append(words.wrong(one))
        self._faults = {name: tuple(said) for name, said in faults.items()}
        self._model.apply([self._marked(row) for row in self._model.records()], settle=True)
        self.panel.show_row(self._model.find(self.panel.key))
        said = words.verdict(found, at_ms)
        if found.ok and found.sight_lost:
            self.result.set_status("warning")
            self.result.show_text(
                said, _("What this machine had seen of the audit was removed from its home, or cut short there")
            )
        elif found.ok:
            self.result.set_status("succeeded")
            self.result.show_text(said, _("As it was written"))
        else:
            n = len(found.wrong)
            lead = ngettext("{n} entry is not as it was written", "{n} entries are not as they were written", n)
            first = [words.wrong(one) for one in found.wrong[:MOST_FAULTS]]
            self.result.set_status("dead")
            export = _("Export stays possible, and says so")
            self.result.show_text(text.sentences([*first, said, export]), lead.format(n=text.count(n)))
        self._say()

    def _marked(self, row: AuditLine) -> AuditLine:
        faults = self._faults.get(row.key, ())
        if faults == row.faults:
            return row
        return replace(row, faults=faults)

    def _apply(self, listing: Listing[AuditLine]) -> None:
        self._unknown.answer(listing.expression)
        self._model.apply([self._marked(row) for row in listing.rows], settle=listing.settle)
        if listing.settle and self.table.current_key() is None and listing.rows:
            self.table.set_current_key(listing.rows[0].key)

    def _show_still(self) -> None:
        super()._show_still()
        self._say_back()

    def _say(self) -> None:
        n = self._model.rowCount()
        shown_ = ngettext("{n} entry", "{n} entries", n).format(n=text.count(n))
        parts = [_("{entries}, older ones follow").format(entries=shown_) if self._more else shown_]
        bad = sum(1 for row in self._model.records() if row.state in ("failed", "partly", "unknown"))
        if bad:
            words_ = ngettext("{n} did not end well", "{n} did not end well", bad)
            parts.append(words_.format(n=text.count(bad)))
        self.set_summary(text.listed(parts))

    def _say_news(self, _number: int = 0) -> None:
        n = self._model.pending
        self.new_button.setVisible(n > 0)
        self.new_button.set_count_text(ngettext("{n} new entry", "{n} new entries", n).format(n=text.count(n)))

    # one entry

    def _show_in_panel(self, row: AuditLine | None) -> None:
        other = row is not None and row.key != self.panel.key
        self.panel.show_row(row)
        self._say_back()
        if other and row is not None:
            self.taking_back.look(row)

    def _look_again(self) -> None:
        self._lister.again()
        row = self._row(self.panel.key)
        if row is not None:
            self.taking_back.look(row)

    def _say_back(self) -> None:
        row = self._row(self.panel.key)
        if row is not None:
            self.panel.show_back(self.taking_back.reason(row))

    def _take_back(self) -> None:
        row = self._row(self.table.current_key())
        if row is None:
            return
        if reason := self.taking_back.reason(row):
            self._context.toast(ToastSpec(text=_("Not taken back."), detail=reason, status="warning", key="audit.back"))
            return
        self.taking_back.ask(row)

    def _on_clicked(self, index: QModelIndex) -> None:
        """What is named in the cell is asked for, as Ctrl+Z on its row does."""
        column = self._model.columns[index.column()]
        if column.key == BACK and column.display(self._model.record(index.row())):
            self._take_back()

    def _condition(self, row: AuditLine, column: str) -> tuple[str, str]:
        return condition(row, column)

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._row(key)
        if row is None:
            return
        menu.addAction(_("Show the whole entry"), lambda: self._open(key))
        if row.entry.target:
            menu.addAction(_("Acts on the same object"), lambda: self.show_target(row.entry.target[0]))
        menu.addSeparator()
        reason = self.taking_back.reason(row)
        back = menu.addAction(_("Take back…"), partial(self.taking_back.ask, row))
        back.setEnabled(not reason)
        back.setToolTip(reason)


def _rings(alerts: AlertQueries) -> list[Ring]:
    """Every alert that is still known, as the strip shows it. Blocking."""
    known = [*alerts.now(addresses=False).incidents, *alerts.history()]
    return [
        Ring(
            at=one.incident.raised_at,
            incident=one.incident.id,
            title=safe.masked(wording.title(one.incident.words, shown.zone())),
            firing=one.state not in (CALMING, RESOLVED),
        )
        for one in known
        if one.incident.raised_at
    ]


def _terms(begin_ms: int, end_ms: int) -> dict[str, str]:
    """The terms of a stretch of time, by field."""
    written = (f"{shown.moment(at_ms).astimezone(shown.zone()):%Y-%m-%dT%H:%M}" for at_ms in (begin_ms, end_ms))
    return dict(zip(("since", "until"), written, strict=True))


def history_of(target: str) -> str:
    """The filter that shows what was done to an object."""
    return Chip("target", (target,)).text()
