"""A column that scrolls up and down where the window is too low for it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from services.i18n import _
from views.support.language import say_in_language
from views.support.look import line
from views.support.spoken import Role, spoken
from views.widgets.layout import in_column


class ScrollPane(QScrollArea):
    """Add content to ``body``; the width follows the window."""

    def __init__(self, parent: QWidget | None = None, *, name: str = "") -> None:
        """``name``, source text: of one that is scrolled by the keyboard, too."""
        super().__init__(parent)
        self._name = name
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if name else Qt.FocusPolicy.NoFocus)
        if name:
            self.setProperty("reached", True)
            spoken(self, Role.Grouping)
            say_in_language(self.retranslate)
        self.viewport().setAutoFillBackground(False)
        content = QWidget()
        content.setProperty("scroll", True)
        self.body = in_column(owner=content, spacing=0)
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self._room = 0  #: pixels below the content
        self._most = 0  #: as tall as the content, up to so many pixels; 0: as tall as the layout wants
        content.installEventFilter(self)
        self._edge = line()  #: what is cut there goes on below
        self._edge.setParent(self)
        self._edge.hide()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._draw_edge)
        bar.valueChanged.connect(self._draw_edge)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def _follow(self, _old: QWidget | None, now: QWidget | None) -> None:
        """Show what the keyboard came to: Qt does so only where it was in here before."""
        if now is not None and self.isAncestorOf(now) and now.isVisible() and now.visibleRegion().isEmpty():
            self.ensureWidgetVisible(now)

    def bring(self, widget: QWidget) -> None:
        """Scroll to what has just grown: it has its place once all is laid out."""
        QTimer.singleShot(0, widget, partial(self._bring, widget))

    def _bring(self, widget: QWidget) -> None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        self.ensureWidgetVisible(widget)

    @property
    def goes_on(self) -> bool:
        """Whether there is more below what is seen."""
        bar = self.verticalScrollBar()
        return bar.value() < bar.maximum()

    def _draw_edge(self) -> None:
        self._edge.setVisible(self.goes_on)
        if self.goes_on:
            self._edge.setGeometry(0, self.height() - 1, self.viewport().width(), 1)
            self._edge.raise_()

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have a bar only where there is something to scroll."""
        self._choose_bar()
        super().resizeEvent(event)
        self._draw_edge()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what the content needs."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self._choose_bar()
        return super().eventFilter(watched, event)

    def _choose_bar(self) -> None:
        """A bar that stands there makes words wrap, so that Qt would find it needed where without it all fits."""
        whole = self.maximumViewportSize()
        tall = self.body.totalHeightForWidth(whole.width()) if self.body.hasHeightForWidth() else -1
        fits = max(tall, self.body.totalMinimumSize().height() if tall < 0 else 0) <= whole.height()
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if fits else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        if policy != self.verticalScrollBarPolicy():
            self.setVerticalScrollBarPolicy(policy)
        self._grow()

    def grow_with_content(self, most: int) -> None:
        """Be as tall as what is inside, up to so many pixels; what becomes less leaves the room that it took, so that
        nothing moves under the cursor.
        """
        self._most = most
        self.setFixedHeight(0)
        self._grow()

    def _grow(self) -> None:
        if self._most and (tall := min(self.needed(), self._most)) > self.minimumHeight():
            self.setFixedHeight(tall)

    def keep_clear(self, covered: int) -> None:
        """Let the last of it be scrolled above what lies on so many pixels of the lower end."""
        room = covered if covered and self.needed() > self.viewport().height() - covered else 0
        if room != self._room:
            margins = self.body.contentsMargins()
            margins.setBottom(margins.bottom() + room - self._room)
            self._room = room
            self.body.setContentsMargins(margins)

    def needed(self) -> int:
        """Return the height of the content in pixels, without what ``keep_clear`` added: one that fits is as
        high as the pane, and its own height tells nothing.
        """
        content = self.widget()
        if content is None:
            return 0
        tall = self.body.totalHeightForWidth(content.width()) if self.body.hasHeightForWidth() else -1
        return (tall if tall >= 0 else self.body.totalMinimumSize().height()) - self._room
