"""What is seen on a page as a file or on paper: in light colours, with what it is and of when above it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QMarginsF, QObject, QPoint, QProcessEnvironment, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFont, QPagedPaintDevice, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtWidgets import QWidget

from console.main_window import MainWindow
from services import whole_file
from services.desktop import printers
from services.i18n import N_, _
from views.context import PageContext
from views.dialogs.file import ask_file
from views.support import instant, safe, shown
from views.support.operation import Operation
from views.theme import theme
from views.widgets.toast import ToastAction, ToastSpec, failure

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

FORMS = ("PDF (*.pdf)", "PNG (*.png)")
#: of the paper: dots an inch, millimetres around, and the height of the line above what is seen, of its width
DPI, MARGIN_MM, HEAD = 150, 12, 0.025
#: at the 1200 that a printer is asked for by itself the window stands still for seconds
PRINTED_DPI = 300


class Paper(QObject):
    """Saves and prints the page that a window shows."""

    def __init__(self, window: MainWindow, context: PageContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._writing = Operation(self, lasting=True)
        self._reaching = Operation(self, lasting=True)

    def ask(self) -> None:
        """Ask for a file and save the page there."""
        name = f"{self._window.current}-{shown.moment(instant.now_ms()).astimezone(shown.zone()):%Y%m%d-%H%M}"
        ask_file(self._window, _("Save this view"), name, self.save, forms=FORMS)

    def save(self, path: Path) -> None:
        """Save the page that is seen: what the name ends with says whether as PDF or as a picture."""
        data = self._as_picture() if path.suffix.lower() == ".png" else self._as_pdf()
        self._writing.start(partial(_write, path, data), lambda _none: self._on_saved(path), self._on_failed)

    def _on_saved(self, path: Path) -> None:
        show = ToastAction(text=_("Show"), call=lambda: _open(path))
        text = _("The view is saved as {file}").format(file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=text, status="succeeded", actions=(show,)))

    def _on_failed(self, error: BaseException) -> None:
        self._context.toast(failure(error, N_("The view is not saved.")))

    def print_out(self) -> None:
        """Ask for a printer and print the page that is seen. The dialog asks for the printers in the thread of the
        window, so whether they answer at all is asked before, elsewhere.
        """
        if not self._reaching.busy:
            named = QProcessEnvironment.systemEnvironment().value("CUPS_SERVER")
            self._reaching.start(partial(printers.silent, named), self._on_reached)

    def _on_reached(self, silent: bool) -> None:
        if silent:
            text = _("The printers of this computer do not answer. Save the view as PDF instead.")
            self._context.toast(ToastSpec(text=text, status="warning"))
        else:
            self._ask_printer()

    def _ask_printer(self) -> None:
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # read when it is first asked for

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setResolution(PRINTED_DPI)
        printer.setPageOrientation(QPageLayout.Orientation.Landscape)
        dialog = QPrintDialog(printer, self._window)
        dialog.setWindowTitle(_("Print this view"))
        dialog.accepted.connect(lambda: self._print(printer))
        dialog.finished.connect(dialog.deleteLater)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.show()

    def _print(self, printer: QPrinter) -> None:
        where = safe.one_line(Path(printer.outputFileName()).name or printer.printerName(), 60)
        if self._paint(printer):
            spec = ToastSpec(text=_("The view is printed: {where}").format(where=where), status="succeeded")
        else:
            spec = ToastSpec(
                text=_("{where} takes nothing: the view is not printed.").format(where=where), status="error"
            )
        self._context.toast(spec)

    def _as_picture(self) -> bytes:
        page = self._window.page(self._window.current)
        with theme().lit(page), _buffer() as buffer:  # paper is white
            page.grab().save(buffer, "PNG")
            return bytes(buffer.data().data())

    def _as_pdf(self) -> bytes:
        with _buffer() as buffer:
            writer = QPdfWriter(buffer)
            writer.setResolution(DPI)
            writer.setTitle(self._head())
            writer.setPageLayout(
                QPageLayout(
                    QPageSize(QPageSize.PageSizeId.A4),
                    QPageLayout.Orientation.Landscape,
                    QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM),
                    QPageLayout.Unit.Millimeter,
                )
            )
            self._paint(writer)
            return bytes(buffer.data().data())

    def _paint(self, paper: QPagedPaintDevice) -> bool:
        """The head, and below it the page as large as there is room for; False where nothing can be painted."""
        page = self._window.page(self._window.current)
        painter = QPainter()
        if not painter.begin(paper):
            return False
        room = QSizeF(painter.viewport().size())
        head = room.width() * HEAD
        font = QFont(theme().font("label"))
        font.setPixelSize(max(1, round(head * 0.55)))
        painter.setFont(font)
        painter.drawText(QRectF(0, 0, room.width(), head), int(Qt.AlignmentFlag.AlignVCenter), self._head())
        scale = min(room.width() / page.width(), (room.height() - head) / page.height())
        painter.translate(0, head)
        painter.scale(scale, scale)
        with theme().lit(page):
            page.render(painter, QPoint(0, 0), renderFlags=QWidget.RenderFlag.DrawChildren)
        return painter.end()

    def _head(self) -> str:
        page = self._window.page(self._window.current)
        now = shown.moment(instant.now_ms()).astimezone(shown.zone())
        parts = (page.title, self._context.title, f"{now:%Y-%m-%d %H:%M:%S}", page.header.summary())
        return " · ".join(part for part in parts if part)


@contextmanager
def _buffer() -> Iterator[QBuffer]:
    """What is painted goes here first: the disk may be slow, and painting is done where the window is."""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    try:
        yield buffer
    finally:
        buffer.close()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = whole_file.draft_of(path)
    try:
        draft.write_bytes(data)
        whole_file.put(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
