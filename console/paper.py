"""What is seen on a page as a file or on paper: in light colours, with what it is and of when above it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QMarginsF, QObject, QPoint, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFont, QPagedPaintDevice, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtWidgets import QWidget

from console.main_window import MainWindow
from services.i18n import N_, _
from views.context import PageContext
from views.kit.export_file import ask_file
from views.support import instant, safe, shown
from views.theme import theme
from views.theme.tokens import LIGHT
from views.widgets.toast import ToastAction, ToastSpec, failure

FORMS = ("PDF (*.pdf)", "PNG (*.png)")
#: of the paper: dots an inch, millimetres around, and the height of the line above what is seen, of its width
DPI, MARGIN_MM, HEAD = 150, 12, 0.025


class Paper(QObject):
    """Saves and prints the page that a window shows."""

    def __init__(self, window: MainWindow, context: PageContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context

    def ask(self) -> None:
        """Ask for a file and save the page there."""
        name = f"{self._window.current}-{shown.moment(instant.now_ms()).astimezone(shown.zone()):%Y%m%d-%H%M}"
        ask_file(self._window, _("Save this view"), name, self.save, forms=FORMS)

    def save(self, path: Path) -> None:
        """Save the page that is seen: what the name ends with says whether as PDF or as a picture."""
        try:
            done = self._write(path)
        except OSError as exc:
            self._context.toast(failure(exc, N_("The view is not saved.")))
            return
        if not done:
            text = _("{file} cannot be written").format(file=safe.one_line(str(path), 120))
            self._context.toast(ToastSpec(text=text, status="dead"))
            return
        show = ToastAction(text=_("Show"), call=lambda: _open(path))
        text = _("The view is saved as {file}").format(file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=text, status="succeeded", actions=(show,)))

    def print_out(self) -> None:
        """Ask for a printer and print the page that is seen."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # read when it is first asked for

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageOrientation(QPageLayout.Orientation.Landscape)
        dialog = QPrintDialog(printer, self._window)
        dialog.setWindowTitle(_("Print this view"))
        dialog.accepted.connect(lambda: self._paint(printer))
        dialog.finished.connect(dialog.deleteLater)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.show()

    def _write(self, path: Path) -> bool:
        page = self._window.page(self._window.current)
        if path.suffix.lower() == ".png":
            with _in_light():
                return page.grab().save(str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb"):  # says why where it cannot be
            pass
        writer = QPdfWriter(str(path))
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
        return self._paint(writer)

    def _paint(self, paper: QPagedPaintDevice) -> bool:
        """The head, and below it the page as large as there is room for."""
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
        with _in_light():
            page.render(painter, QPoint(0, 0), renderFlags=QWidget.RenderFlag.DrawChildren)
        return painter.end()

    def _head(self) -> str:
        page = self._window.page(self._window.current)
        now = shown.moment(instant.now_ms()).astimezone(shown.zone())
        parts = (page.title, self._context.profile, f"{now:%Y-%m-%d %H:%M:%S}", page.header.summary())
        return " · ".join(part for part in parts if part)


@contextmanager
def _in_light() -> Iterator[None]:
    """Paper is white; nothing of it is seen on the screen, which is painted when all is as before."""
    before = theme().mode
    theme().set_mode(LIGHT)
    try:
        yield
    finally:
        theme().set_mode(before)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
