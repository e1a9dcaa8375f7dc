"""A timer that asks again: skips while an answer is under way, stops while nobody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QMetaMethod, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from views.support.operation import Operation, report


class Refresher(QObject):
    """Runs `fetch` off the GUI thread every `interval_ms` while `widget` can be seen.

    Signals:
        refreshed: a result arrived (also given to `deliver`).
        failed: the fetch raised; the timer goes on. Without a listener the error goes to the notifier.
    """

    refreshed = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        widget: QWidget,
        fetch: Callable[[], Any],
        deliver: Callable[[Any], None] | None = None,
        interval_ms: int = 1000,
    ) -> None:
        super().__init__(widget)
        self._widget = widget
        self._fetch = fetch
        self._deliver = deliver
        self._wanted = False
        self._again = False
        self._operation = Operation(self)
        self._timer = QTimer(self, interval=interval_ms)
        self._timer.timeout.connect(self._on_timeout)
        widget.installEventFilter(self)

    @property
    def busy(self) -> bool:
        """Whether an answer is under way."""
        return self._operation.busy

    @property
    def active(self) -> bool:
        """Whether the timer runs now."""
        return self._timer.isActive()

    def set_interval(self, interval_ms: int) -> None:
        """Change the pace."""
        self._timer.setInterval(interval_ms)

    def start(self) -> None:
        """Ask now and then regularly, as long as the widget is visible."""
        self._wanted = True
        self._follow_visibility()

    def stop(self) -> None:
        """Ask no more."""
        self._wanted = False
        self._timer.stop()

    def now(self) -> None:
        """Ask at once; while an answer is under way, right after it."""
        if self._operation.busy:
            self._again = True
            return
        self._operation.start(self._fetch, self._on_result, self._on_error)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget being shown and hidden."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._follow_visibility(shown=event.type() == QEvent.Type.Show)
        return False

    def _follow_visibility(self, shown: bool | None = None) -> None:
        visible = self._widget.isVisible() if shown is None else shown
        if self._wanted and visible:
            if not self._timer.isActive():
                self._timer.start()
                self.now()
        else:
            self._timer.stop()

    def _on_timeout(self) -> None:
        if not self._operation.busy:
            self.now()

    def _on_result(self, result: Any) -> None:
        self._ask_again()
        if self._deliver is not None:
            self._deliver(result)
        self.refreshed.emit(result)

    def _on_error(self, error: BaseException) -> None:
        self._ask_again()
        if self.isSignalConnected(QMetaMethod.fromSignal(self.failed)):
            self.failed.emit(error)
        else:
            report(error)

    def _ask_again(self) -> None:
        if self._again:
            self._again = False
            self.now()
