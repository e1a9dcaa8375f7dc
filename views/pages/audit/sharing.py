"""Takes the trail out of the window: what matches, as a file for a spreadsheet."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from services.i18n import N_, _, ngettext
from services.monitor.files import trail
from services.monitor.trail import AuditQueries
from views.context import PageContext
from views.support import safe, shown, text
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec, failure


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

    def ask_file(self, expression: str) -> None:
        """Ask where to."""
        dialog = QFileDialog(self._owner, _("Export all that match"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["CSV (*.csv)"])
        dialog.selectFile("audit.csv")
        dialog.setDefaultSuffix("csv")
        dialog.fileSelected.connect(lambda path: self.write(Path(path), expression))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def write(self, path: Path, expression: str) -> None:
        """Write the file in the background; one at a time."""
        if self._exporting.busy:
            self._context.toast(ToastSpec(text=_("An export is under way; wait for it or stop it"), status="warning"))
            return
        self._stop = threading.Event()
        words = _("Exporting to {file}").format(file=safe.one_line(path.name, 60))
        stop = ToastAction(text=_("Stop"), call=self._stop.set)
        self._context.toast(ToastSpec(text=words, status="running", actions=(stop,), sticky=True, key="audit.export"))
        call = partial(_write, self._context.audit, path, expression, self._stop)
        self._exporting.start(call, partial(self._tell_done, path), self._tell_failed)

    def _tell_done(self, path: Path, number: int) -> None:
        words = ngettext("{n} entry exported to {file}", "{n} entries exported to {file}", number)
        folder = QUrl.fromLocalFile(str(path.parent))
        show = ToastAction(text=_("Open folder"), call=partial(_open, folder))
        said = words.format(n=text.count(number), file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=said, actions=(show,), seconds=10, key="audit.export"))
        self.exported.emit(path)

    def _tell_failed(self, error: BaseException) -> None:
        if isinstance(error, trail.Stopped):
            said = _("Export stopped; nothing was written.")
            self._context.toast(ToastSpec(text=said, status="cancelled", key="audit.export"))
            return
        self._context.toast(failure(error, N_("The export failed."), key="audit.export"))


def _open(folder: QUrl) -> None:
    QDesktopServices.openUrl(folder)


def _write(queries: AuditQueries, path: Path, expression: str, stop: threading.Event) -> int:
    entries = queries.each(expression, stop)
    return trail.write_csv(entries, path, shown.zone(), queries.now_ms(), stop=stop)
