"""The two left panes of the page: the causes, and the table of one cause."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from services.clock import SystemClock
from services.domain.insight.cause import AGAIN, NOW, OF_CREATOR, OF_MAKER
from services.domain.task import classify
from services.i18n import N_, _, ngettext
from services.monitor.causes import Cause
from views.pages.dead_letters import words
from views.pages.dead_letters.bulk_bar import BulkBar
from views.pages.dead_letters.causes import SORTS, CauseList
from views.pages.dead_letters.rows import LetterRow
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.words import verdicts, way
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import TABS
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.flow_row import FlowRow
from views.widgets.strip import Strip

_CLOCK = SystemClock()


class CausePane(QWidget):
    """Signals:
    order_chosen: key of one of ``SORTS``.
    """

    order_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.order = "urgent"
        self.causes = CauseList()
        self._title = Label("", "card")
        self._button = Button(kind="ghost", small=True)
        self._menu = QMenu(self)
        self._button.set_menu(self._menu)
        self._hint = Label("", "label", "text3", wrap=True)
        self._hint.setContentsMargins(16, 8, 16, 10)
        self.setMinimumWidth(220)
        self.setProperty("panel", "table")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        _column(self, _head(self._title, self._button), self.causes, self._hint)
        on_language_changed(self._say)
        self._say()

    def _choose(self, key: str) -> None:
        self.order = key
        self._say()
        self.order_chosen.emit(key)

    def _say(self) -> None:
        self._title.setText(_("By cause"))
        self._hint.setText(
            _("Tasks with the same error, once numbers, ids and addresses are taken out, share a cause.")
        )
        self._button.set_count_text(next(_(title) for key, title, _order in SORTS if key == self.order))
        self._menu.clear()
        for key, title, _order in SORTS:
            self._menu.addAction(_(title), partial(self._choose, key))


class LetterPane(QWidget):
    """The letters of one cause, whether they would pass now, and the bar for those that are ticked.

    Signals:
        menu_wanted: where on the screen the menu of the cause shall open.
        republish_wanted: republish the whole cause, after a look at what becomes of each.
        browser_wanted: open the browser of this shop (``platform:shop_id``) for a person.
        shops_wanted: show this shop, one of several.
        pause_wanted: ``pause`` or ``resume``, and the scope of that.
    """

    menu_wanted = Signal(QPoint)
    republish_wanted = Signal()
    browser_wanted = Signal(str)
    shops_wanted = Signal(str)
    pause_wanted = Signal(str, str)

    def __init__(self, model: RecordModel[LetterRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cause: Cause | None = None
        self.table = TableView(model, name=N_("Dead letters of the cause"))
        self.bar = BulkBar()
        self._title = Elided("", "card")
        self._note = Label("", "label", "text3")
        self.shops = Label("", "label", "text2")
        self.more = IconButton("ph.dots-three", N_("What to do about this cause"))
        self.more.clicked.connect(self._on_more)
        self.worth = Strip("warning")
        self.republish = Button(kind="plain", icon="ph.arrow-clockwise", small=True)
        self.republish.clicked.connect(self.republish_wanted)
        self.report = Button(kind="primary", icon="ph.copy", small=True)
        self.report.clicked.connect(self._on_report)
        self.visit = Button(kind="primary", icon="ph.browser", small=True)
        self.visit.clicked.connect(self._on_visit)
        self.hold = Button(icon="ph.pause-circle", small=True)
        self.hold.clicked.connect(self._on_hold)
        self._paused: frozenset[str] = frozenset()
        self._copied = ""  #: fingerprint of the cause whose report is on the clipboard
        self.worth.add_action(self.republish)
        self._barred, self._open = "", True
        self.said = Label("", "label", "text2", wrap=True)
        self.said.setContentsMargins(16, 6, 16, 8)
        self.setMinimumWidth(300)
        self._reach = QWidget()
        reach = QHBoxLayout(self._reach)
        reach.setContentsMargins(4, 0, 4, 0)
        reach.setSpacing(8)
        reach.addWidget(self._note)
        reach.addWidget(self.shops)
        reach.addStretch(1)
        head = _head(self._title, self.more)
        about = QWidget()
        room = QVBoxLayout(about)
        room.setContentsMargins(12, 8, 12, 8)
        room.setSpacing(7)
        room.addWidget(self._reach)
        room.addWidget(self.worth)
        ways = FlowRow(across=8, down=6)
        for button in (self.report, self.visit, self.hold):
            ways.addWidget(button)
        room.addLayout(ways)
        _column(self, head, self.table, self.bar, about, self.said)
        self._about = about
        on_language_changed(self._say)

    def show_cause(self, cause: Cause | None, *, is_open: bool = True) -> None:
        """Name the cause whose letters are listed; only open ones are republished as a whole."""
        self._cause, self._open = cause, is_open
        self._say()

    def set_acting(self, reason: str) -> None:
        """Republish nothing, for this reason; "" allows it again."""
        self._barred = reason
        self._say()

    def know_pauses(self, scopes: Collection[str]) -> None:
        """What is paused now: of that the end is offered."""
        if self._paused != frozenset(scopes):
            self._paused = frozenset(scopes)
            self._say()

    @property
    def asks(self) -> bool:
        """Whether republishing the whole cause is what would help now."""
        cause = self._cause
        return self._open and cause is not None and cause.count > 1 and cause.worth.level == NOW

    def set_leading(self, leads: bool) -> None:
        """Whether the one filled button of the page may be here."""
        self.republish.set_kind("primary" if leads and self.asks else "plain")

    def title(self) -> str:
        """What the cause is called."""
        return words.heading(self._cause) if self._cause is not None else ""

    def _say(self) -> None:
        cause = self._cause
        count = cause.count if cause is not None else 0
        self._title.show_text(self.title())
        self._note.setText(ngettext("{n} task", "{n} tasks", count).format(n=text.count(count)) if count else "")
        self.shops.setText(words.scope(cause) if cause is not None else "")
        self.more.setEnabled(cause is not None)
        self._about.setVisible(cause is not None)
        if cause is not None:
            found = verdicts.look(cause.worth)
            self.worth.set_status(found.status, found.glyph)
            why = verdicts.why(cause.worth)
            self.republish.set_count_text(verdicts.republish_some(cause.worth).format(n=text.count(count)))
            self.republish.disable(self._barred)
            # what fails again until a flow, or what creates the tasks, is put right: the next step is somebody else's,
            # and they need to be told
            copied = self._copied == cause.fingerprint
            verb = way.label("copy_creator" if cause.kind in OF_CREATOR else "copy_flow", "")
            self.report.set_count_text(_("Copied") if copied else verb)
            told = cause.kind in OF_MAKER or cause.kind in OF_CREATOR
            self.report.setVisible(self._open and cause.worth.level == AGAIN and told)
            if cause.kind in OF_CREATOR and cause.worth.level == AGAIN and cause.worth.code != "worth.flow_refused":
                # that some failed again is the reason, but says not what to do
                way_out = _("Have it put right where the tasks are created, then republish; edit single ones here.")
                why = text.run_on((why, way_out))
            if self._open:
                self.worth.show_text(why)
            else:
                self.worth.hide()
            # a restricted account is looked at in its shop, by a person
            one = len(cause.shop_keys) == 1
            restricted = cause.kind == classify.RISK_CONTROL and cause.worth.level == AGAIN and bool(cause.shop_keys)
            self.visit.set_count_text(way.label("login_shop" if one else "open_shops", ""))
            self.visit.setVisible(self._open and restricted)
            self.visit.disable(self._barred if one else "")
            self._show_hold(cause)
        note = cause.rule.note if cause is not None else ""
        self.said.setText(safe.visible(note, keep_newlines=True))
        self.said.setVisible(bool(note))

    def _show_hold(self, cause: Cause) -> None:
        """Until it is put right, what would die of it can be held back: no wider than it reaches."""
        scope = cause.pause_scope
        self.hold.setVisible(self._open and cause.worth.level == AGAIN and bool(scope))
        verb = "resume" if scope in self._paused else "pause"
        self.hold.set_glyph("ph.play" if verb == "resume" else "ph.pause-circle")
        self.hold.set_count_text(way.label(verb, scope))
        self.hold.disable(self._barred)

    def _on_hold(self) -> None:
        scope = self._cause.pause_scope if self._cause is not None else ""
        if scope:
            self.pause_wanted.emit("resume" if scope in self._paused else "pause", scope)

    def _on_report(self) -> None:
        if self._cause is not None:
            model = self.table.records
            example = model.record(0).task if model.rowCount() else None
            QGuiApplication.clipboard().setText(words.report(self._cause, example, _CLOCK.now_ms()))
            self._copied = self._cause.fingerprint
            self._say()

    def _on_visit(self) -> None:
        keys = self._cause.shop_keys if self._cause is not None else ()
        if len(keys) == 1:
            self.browser_wanted.emit(keys[0])
        elif keys:
            self.shops_wanted.emit(keys[0])

    def _on_more(self) -> None:
        self.menu_wanted.emit(self.more.mapToGlobal(self.more.rect().bottomLeft()))


def _head(title: QWidget, right: QWidget) -> QWidget:
    head = QWidget()
    head.setFixedHeight(TABS + 2)
    row = QHBoxLayout(head)
    row.setContentsMargins(16, 0, 12, 0)
    row.setSpacing(8)
    row.addWidget(title, 1)
    row.addWidget(right)
    return head


def _column(pane: QWidget, head: QWidget, middle: QWidget, foot: QWidget, *notes: QWidget) -> None:
    column = QVBoxLayout(pane)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(head)
    column.addWidget(line())
    for note in notes:
        column.addWidget(note)
    column.addWidget(middle, 1)
    column.addWidget(foot)
