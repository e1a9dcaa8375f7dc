"""Asks for the file that something is written to or read from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QFileInfo, QMimeDatabase, QStandardPaths
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QFileIconProvider, QWidget

from services.i18n import _

FORMS = ("CSV (*.csv)", "Excel (*.xlsx)", "JSON (*.json)", "JSON, a line each (*.jsonl)")


class Looks(QFileIconProvider):
    """What a file looks like by its name. Qt's own reads the beginning of each file to know, in the thread of the
    window: that stands still where one does not answer, as in ``/proc`` or on a slow share.
    """

    def icon(self, kind: QFileIconProvider.IconType | QFileInfo) -> QIcon:
        """That of any folder, or of any file."""
        if isinstance(kind, QFileInfo):
            kind = self.IconType.Folder if kind.isDir() else self.IconType.File
        return super().icon(kind)

    def type(self, info: QFileInfo) -> str:
        """What its ending says."""
        if info.isDir():
            return _("Folder")
        return QMimeDatabase().mimeTypeForFile(info.fileName(), QMimeDatabase.MatchMode.MatchExtension).comment()


class FileDialog(QFileDialog):
    """That of the desktop, where it has one, else Qt's. Open it with ``open()``: it goes by itself. It begins where the
    last file of this run was: what is kept of a file belongs beside it, and where the program began means nothing.
    """

    _folder: ClassVar[Path | None] = None

    def __init__(
        self, owner: QWidget, title: str, chosen: Callable[[Path], object], *, forms: Sequence[str] = ()
    ) -> None:
        """``title`` and ``forms`` are translated."""
        super().__init__(owner, title, str(_begin(self._folder)))
        self._looks = Looks()
        self.setIconProvider(self._looks)
        self.setFileMode(QFileDialog.FileMode.ExistingFile)
        if forms:
            self.setNameFilters(list(forms))
        self.fileSelected.connect(self._remember)
        self.fileSelected.connect(lambda path: chosen(Path(path)))
        self.finished.connect(self.deleteLater)

    def _remember(self, path: str) -> None:
        FileDialog._folder = Path(path).parent

    def write(self, name: str) -> None:
        """Ask where to, with this name first; an ending that is not typed is the one of the form chosen."""
        self.setFileMode(QFileDialog.FileMode.AnyFile)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.selectFile(name)
        self.setDefaultSuffix(Path(name).suffix[1:])
        self.filterSelected.connect(lambda form: self.setDefaultSuffix(_suffix(form)))
        self.open()


def _begin(last: Path | None) -> Path:
    """The folder of the last file, else where a person's own files are. One that is not there would stand in the field
    as the name of a file.
    """
    documents = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or Path.home())
    return next((one for one in (last, documents) if one is not None and one.is_dir()), Path.home())


def ask_file(
    owner: QWidget,
    title: str,
    name: str,
    chosen: Callable[[Path], object],
    refused: Callable[[], object] = lambda: None,
    *,
    forms: Sequence[str] = FORMS,
) -> None:
    """Ask where to, with ``name`` (without an ending) in the first of the forms offered; ``refused``: nobody chose."""
    dialog = FileDialog(owner, title, chosen, forms=forms)
    dialog.rejected.connect(refused)
    dialog.write(f"{name}.{_suffix(forms[0])}")


def _suffix(form: str) -> str:
    """Of ``Tables (*.xlsx *.csv)``: xlsx."""
    return form.rpartition("(")[2].rstrip(")").split()[0].removeprefix("*.") if "(" in form else ""
