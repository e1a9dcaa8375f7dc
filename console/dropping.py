"""What is dropped on the window: a spreadsheet becomes tasks, a link opens what it shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from console.main_window import MainWindow
from services.domain.errors import UsageError
from services.domain.text import view_link
from services.i18n import _
from services.messages import told
from views.support import safe
from views.widgets.toast import ToastSpec

#: what a spreadsheet is called
SHEETS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm")
LINK = "fleetdeck:"


class Dropping(QObject):
    """Watches a window; what a part of it takes itself, as the New task dialog does, does not come here."""

    def __init__(
        self, window: MainWindow, sheet: Callable[[Path], None], reason: Callable[[], str], profile: str
    ) -> None:
        """``sheet``: shows tasks made of a file; ``reason``: why nothing can be created now, "" when it can."""
        super().__init__(window)
        self._window, self._sheet, self._reason, self._profile = window, sheet, reason, profile
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take files and links."""
        if isinstance(event, QDragEnterEvent | QDropEvent) and (_file(event.mimeData()) or _link(event.mimeData())):
            event.acceptProposedAction()
            if event.type() == QEvent.Type.Drop:
                self._take(_file(event.mimeData()), _link(event.mimeData()))
            return True
        return False

    def _take(self, file: Path | None, link: str) -> None:
        if file is None:
            self._open(link)
        elif reason := self._reason():
            self._say(reason)
        elif file.suffix.lower() in SHEETS:
            self._sheet(file)
        else:
            name = safe.one_line(file.name, 60)
            self._say(_("{file} is no spreadsheet: drop an Excel or CSV file here").format(file=name))

    def _open(self, link: str) -> None:
        try:
            found = view_link.read(link)
        except UsageError as exc:
            self._say(told(exc))
            return
        if found.profile.casefold() not in ("", self._profile.casefold()):
            name = safe.one_line(found.profile, 60)
            self._say(_("The link is for the connection {name}; open that one first").format(name=name))
            return
        self._window.open_page(found.page, found.show or None)

    def _say(self, words: str) -> None:
        self._window.toasts.show(ToastSpec(text=words, status="warning"))


def _file(data: QMimeData) -> Path | None:
    return next((Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()), None)


def _link(data: QMimeData) -> str:
    words = data.text().strip()
    return words if words.startswith(LINK) else ""
