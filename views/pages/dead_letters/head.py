"""The head of a dead letter: type, since when it is dead, shop, lane, id."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.domain.task.status import Triage
from services.i18n import N_, _, pgettext
from services.monitor.tasks import TaskDetail
from views.pages.dead_letters.words import minute
from views.support import instant, safe
from views.support.look import Label
from views.support.words import type_names
from views.theme import theme
from views.theme.tokens import LANES, platform_badge
from views.widgets.badge import Badge
from views.widgets.buttons import IconButton
from views.widgets.elided import Elided
from views.widgets.status_pill import StatusPill

_STATES: dict[str, tuple[str, str]] = {
    Triage.OPEN: ("dead", N_("Dead since {time}")),
    Triage.IGNORED: ("paused", N_("Ignored, dead since {time}")),
    Triage.ARCHIVED: ("cancelled", N_("Archived, dead since {time}")),
    Triage.REPUBLISHED: ("succeeded", N_("Republished, dead since {time}")),
    Triage.OVERTAKEN: ("succeeded", N_("Overtaken, dead since {time}")),
}


class LetterHead(QWidget):
    """Signals:
    step_wanted: the letter above (-1) or below (+1).
    """

    step_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._id_text = ""
        self._type, self._pill = Label("", "panel"), StatusPill("dead", framed=True)
        self._shop, self._badge = Elided("", "body"), Badge.platform("")
        self._lane_glyph, self._lane = QLabel(), Label("", "label", "text2")
        self._id = Elided("", "monosmall", "text3", middle=True)
        self._up = IconButton("ph.arrow-up", N_("Letter above"))
        self._down = IconButton("ph.arrow-down", N_("Letter below"))
        self._copy = IconButton("ph.copy", N_("Copy the task id"))
        self._up.clicked.connect(lambda: self.step_wanted.emit(-1))
        self._down.clicked.connect(lambda: self.step_wanted.emit(1))
        self._copy.clicked.connect(self._on_copy)
        self._put_together()

    def _put_together(self) -> None:
        first = QHBoxLayout()
        self._detail_row = QWidget()
        second = QHBoxLayout(self._detail_row)
        second.setContentsMargins(0, 0, 0, 0)
        first.setSpacing(8)
        first.addWidget(self._type)
        first.addWidget(self._pill)
        first.addStretch(1)
        first.addWidget(self._up)
        first.addWidget(self._down)
        second.setSpacing(8)
        parts: tuple[QWidget, ...] = (self._shop, self._badge, self._lane_glyph, self._lane)
        for widget in parts:
            second.addWidget(widget)
        second.addWidget(self._id, 1)
        second.addWidget(self._copy)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(16, 10, 12, 8)
        rows.setSpacing(4)
        rows.addLayout(first)
        rows.addWidget(self._detail_row)

    def show_letter(self, detail: TaskDetail | None) -> None:
        """Show a letter, or that none is chosen."""
        self._show_rest(detail is not None)
        if detail is None:
            self._type.setText(_("No dead letter chosen"))
            return
        task, now = detail.task, instant.now_ms()
        self._type.setText(type_names.name(task.task_type))
        self._type.setToolTip(safe.tooltip(task.task_type))
        status, words = _STATES.get(task.triage, ("waiting", task.status))
        self._pill.set_status(status, _(words).format(time=minute(task.ended_at, now)))
        name = detail.shop.name if detail.shop is not None and detail.shop.name else task.shop_id
        self._shop.show_text(name)
        self._badge.show_text(platform_badge(task.platform))
        lane = LANES.get(task.lane)
        self._lane.setText(pgettext("lane", lane.word) if lane is not None else task.lane)
        if lane is not None:
            self._lane_glyph.setPixmap(theme().status_pixmap(lane, 13))
        self._id_text = task.task_id
        self._id.show_text(task.task_id)

    def _show_rest(self, shown: bool) -> None:
        self._pill.setVisible(shown)
        self._detail_row.setVisible(shown)
        for button in (self._up, self._down):
            button.setVisible(shown)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._id_text)
