"""Handover: on one page what who takes over must know; each number opens what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _, language
from services.messages import told
from services.monitor import handover
from services.monitor.handover import Handover, Line, Section
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.dialogs.notice import Notice
from views.support import instant, safe, shown
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button, LinkLabel
from views.widgets.layout import STRETCH, clear, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

WIDTH, ROOM_HEIGHT = 860, 420
#: what stands above and below the page that is written, and what of the page is left on any screen
AROUND, LEAST_HEIGHT = 240, 120
HOUR_MS = 3_600_000
SPANS = {"4h": 4 * HOUR_MS, "8h": 8 * HOUR_MS, "12h": 12 * HOUR_MS, "24h": 24 * HOUR_MS, "3d": 72 * HOUR_MS}


class HandoverDialog(DialogFrame):
    """Open it with ``open()``. It is written once, and again when asked for: what is read is not rewritten.

    Signals:
        wanted: a page, and what it shall show there.
        written: another page stands there.
    """

    wanted = Signal(str, object)
    written = Signal()

    def __init__(self, context: PageContext, parent: QWidget | None = None) -> None:
        super().__init__(N_("Handover"), icon="ph.handshake", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.set_width(WIDTH)
        self._context = context
        self._page: Handover | None = None
        self._error: BaseException | None = None
        self._asking = Operation(self, latest=True)
        self._build()
        self._connect()
        self.refresh()

    def _build(self) -> None:
        self.span = Segmented(
            (("4h", N_("4 h")), ("8h", N_("8 h")), ("12h", N_("12 h")), ("24h", N_("24 h")), ("3d", N_("3 d"))),
            N_("Of how long it tells"),
        )
        self.span.set_current("12h")
        self.headline = Label("", "strong", wrap=True)
        self.body.addLayout(in_row((self.headline, 1), self.span, spacing=12))
        self.doubt = Notice("warning")
        self.body.addWidget(self.doubt)
        self.hint = Label("", "body", "text3", wrap=True)
        self.body.addWidget(self.hint)
        self.parts = _Parts()
        behind = self.behind()
        room = behind.height() if behind is not None else self.screen().availableGeometry().height()
        # on a low screen the buttons stay on it
        self.parts.setFixedHeight(max(LEAST_HEIGHT, min(ROOM_HEIGHT, room - AROUND)))
        self.body.addWidget(self.parts)
        self.copy_button = Button(N_("Copy as text"), icon="ph.copy")
        self.again_button = Button(N_("Write it again"), icon="ph.arrows-clockwise", shortcut="window.refresh")
        self.close_button = Button(N_("Close"), hint="Esc")
        put(self.foot, self.copy_button, self.again_button, STRETCH, self.close_button)

    def _connect(self) -> None:
        self.span.chosen.connect(lambda _key: self.refresh())
        self.parts.opened.connect(self._go)
        self.copy_button.clicked.connect(self._copy)
        self.again_button.clicked.connect(self.refresh)
        self.close_button.clicked.connect(self.reject)
        on_language_changed(self.refresh)

    def refresh(self) -> None:
        """Write the page as it is now."""
        self._say()
        since = instant.now_ms() - SPANS[self.span.current()]
        self._asking.start(partial(self._context.handover.page, since, language()), self._take, self._fail)

    def _take(self, page: Handover) -> None:
        self._page, self._error = page, None
        self._say()
        self.written.emit()

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._say()

    def _say(self) -> None:
        page = self._page
        # a page of before would be read as one of now
        self.hint.setText(told(self._error) if self._error is not None else _("Asking…") if page is None else "")
        self.hint.setVisible(bool(self.hint.text()))
        self.copy_button.disable("" if page is not None else _("Nothing is shown yet"))
        self.headline.setText(page.title if page is not None else "")
        doubts = page.doubts if page is not None else ()
        self.doubt.show_words(doubts[0] if doubts else "", "\n".join(doubts[1:]))
        self.parts.show_parts(page.parts if page is not None else ())
        if page is not None and self._error is not None:
            self.headline.setText(_("as of {time}").format(time=shown.clock(page.until, instant.now_ms())))

    def _go(self, line: Line) -> None:
        self.accept()
        if line.verb is not None:
            self._context.way_out(*line.verb)
        elif line.page == handover.CAUSES:
            self.wanted.emit("dead_letters", line.target)
        else:
            self.wanted.emit(line.page, line.target or line.filter or None)

    def _copy(self) -> None:
        if self._page is not None:
            QGuiApplication.clipboard().setText(safe.masked("\n".join(handover.plain(self._page))))


class _Parts(ScrollPane):
    """Signals:
    opened: the line whose verb was clicked.
    """

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.body.setSpacing(3)
        self._shown: tuple[Section, ...] = ()
        self.links: list[LinkLabel] = []

    def show_parts(self, parts: Sequence[Section]) -> None:
        """Show these, if they are others."""
        if tuple(parts) == self._shown:
            return
        self._shown, self.links = tuple(parts), []
        clear(self.body)
        for place, part in enumerate(parts):
            title = Label(part.title, "strong", "text2")
            title.setContentsMargins(0, 10 if place else 0, 0, 2)
            self.body.addWidget(title)
            if part.empty:
                self.body.addWidget(Label(part.empty, "body", "text3", wrap=True))
            for line in part.lines:
                self.body.addWidget(self._row(line))
        self.body.addStretch(1)
        self.verticalScrollBar().setValue(0)

    def _row(self, line: Line) -> QWidget:
        widget = QWidget()
        row = in_row(
            (Label(safe.visible(line.text), "body", wrap=True), 1), owner=widget, margins=(12, 0, 8, 0), spacing=8
        )
        if line.verb is not None or (line.page and (line.target or line.filter or line.page == handover.CAUSES)):
            link = LinkLabel(N_("Show"))
            link.setAccessibleDescription(line.text)
            link.activated.connect(partial(self.opened.emit, line))
            self.links.append(link)
            row.addWidget(link, alignment=Qt.AlignmentFlag.AlignTop)
        return widget
