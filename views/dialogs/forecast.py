"""The right column of the New task dialog: what will be created, what stands against it, the first message."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from services.domain.task_type import TaskType
from services.i18n import N_, _, ngettext, pgettext
from views.dialogs.draft import Draft
from views.dialogs.json_text import pretty
from views.dialogs.twins import Twins
from views.support import safe, shown, text
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import LANES, RADIUS_CARD, status
from views.widgets.buttons import LinkLabel
from views.widgets.json_highlighter import JsonHighlighter
from views.widgets.key_values import KeyValues

WIDTH = 286
PREVIEW_LINES = 14


class Forecast(QWidget):
    """Signals:
    show_twins: list the tasks that are active already.
    queue_chosen: create them too, to run after the active ones (True), or leave them out (False).
    """

    show_twins = Signal()
    queue_chosen = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(WIDTH)
        self._lead = Label("", "body", "text2")
        self._number = Label("", "number")
        self._each = Label("", "body", "text2")
        self.errors = Notice("dead")
        self.twins = Notice("warning")
        self._show_link, self._queue_link = LinkLabel(N_("Show them")), LinkLabel(N_("Queue after it"))
        self.twins.add_links(self._show_link, self._queue_link)
        self._facts = KeyValues(spread=True)
        self._title = Label("", "label", "text2")
        self._place = Label("", "label", "text3")
        self.preview = _Preview()
        self._queues = False
        self._put_together()
        self._show_link.activated.connect(self.show_twins)
        self._queue_link.activated.connect(self._on_queue)

    def _put_together(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 16)
        column.setSpacing(4)
        for widget in (self._lead, self._number, self._each):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addWidget(self.errors)
        column.addWidget(self.twins)
        column.addSpacing(8)
        column.addWidget(line())
        column.addSpacing(8)
        column.addWidget(self._facts)
        column.addSpacing(8)
        column.addWidget(line())
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._place)
        column.addSpacing(4)
        column.addLayout(head)
        column.addWidget(self.preview)
        column.addStretch(1)

    def show_draft(self, draft: Draft, kind: TaskType | None, twins: Twins, *, checking: bool, errors: str) -> None:
        """Say what would happen now."""
        self._queues = draft.if_duplicate == "queue"
        left_out = 0 if self._queues else len(twins.by_shop)
        number = max(0, len(draft.shops) - left_out)
        self._lead.setText(_("This will create"))
        self._number.setText(tasks(number))
        self._number.set_tone("dis" if errors or not number else "text")
        self._each.setText(_("checking for duplicates") if checking else _("one for each ticked shop"))
        self.errors.show_words(errors, "")
        self._show_twins(twins)
        self._show_facts(draft, kind)
        self._title.setText(_("First message"))
        self.preview.setAccessibleName(_("First message"))
        self._place.setText(_("1 of {n}").format(n=text.count(number)) if number else "")
        shown_text = pretty(draft.message())
        if shown_text != self.preview.toPlainText():
            self.preview.show_text(shown_text)

    def _show_twins(self, twins: Twins) -> None:
        if not twins.by_shop:
            self.twins.show_words("", "")
            return
        fate = _("They are queued after it.") if self._queues else _("They are left out.")
        self.twins.show_words(twins.headline(), _("{standing}. {fate}").format(standing=twins.words(), fate=fate))
        self._queue_link.set_source(N_("Leave them out") if self._queues else N_("Queue after it"))

    def _show_facts(self, draft: Draft, kind: TaskType | None) -> None:
        lane = LANES[draft.lane]
        rows = [(_("Lane"), f"{pgettext('lane', lane.word)} {draft.priority}")]
        start = (
            text.until(shown.span(draft.delay_min * 60_000)) if draft.delay_min else _("as soon as a worker is free")
        )
        rows.append((_("Starts"), start))
        if kind is not None:
            attempts = draft.attempts or kind.max_retries + 1
            rows.append((_("Attempts"), str(attempts)))
            if kind.expected_s:
                rows.append((_("Usually takes"), text.coarse(shown.span(kind.expected_s * 1000))))
            rows.append((_("Time-out"), text.coarse(shown.span(kind.timeout_s * 1000))))
        self._facts.set_rows(rows)

    def _on_queue(self) -> None:
        self.queue_chosen.emit(not self._queues)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the ground."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("raised"))
        painter.fillRect(0, 0, 1, self.height(), theme().color("line"))


class _Preview(QPlainTextEdit):
    """A small JSON text to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("panel", "code")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(8)
        self._highlighter = JsonHighlighter(self.document())
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_text(self, words: str) -> None:
        """Show a text in as much room as it needs."""
        self.setPlainText(words)
        lines = min(PREVIEW_LINES, self.blockCount())
        whole = lines == self.blockCount()
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(policy)
        self.setFixedHeight(lines * (self.fontMetrics().lineSpacing() + 1) + 20)

    def _restyle(self) -> None:
        self.setFont(theme().font("monosmall"))
        self.document().setDefaultFont(theme().font("monosmall"))


class Notice(QWidget):
    """A framed note in the tint of a status, hidden while it has nothing to say."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token = status(name)
        self._lead = Label("", "strong", wrap=True)
        self._text = Label("", "label", "text2", wrap=True)
        self._links = QHBoxLayout()
        self._links.setSpacing(14)
        column = QVBoxLayout(self)
        column.setContentsMargins(34, 9, 10, 9)
        column.setSpacing(3)
        column.addWidget(self._lead)
        column.addWidget(self._text)
        column.addLayout(self._links)
        self.hide()
        theme().changed.connect(self.update)

    def add_links(self, *links: QWidget) -> None:
        """Put verbs below the text."""
        for link in links:
            self._links.addWidget(link)
        self._links.addStretch(1)

    def show_words(self, lead: str, words: str) -> None:
        """Show already translated texts; an empty lead hides the note."""
        self._lead.setText(safe.visible(lead, keep_newlines=True))
        self._text.setText(words)
        self._text.setVisible(bool(words))
        self.setAccessibleName(f"{lead} {words}".strip())
        self.setVisible(bool(lead))

    def lead(self) -> str:
        """The bold line shown."""
        return self._lead.text()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground, edge and glyph."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().tint(self._token.role, 45))
        painter.setBrush(theme().tint(self._token.role, 10))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.drawPixmap(11, 10, theme().pixmap(self._token.glyph, self._token.role, 15))


def tasks(number: int) -> str:
    """A number of tasks in words."""
    return ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
