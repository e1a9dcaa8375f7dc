"""Asks for the file that tasks are written to, in the forms that an export has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

FORMS = ("CSV (*.csv)", "Excel (*.xlsx)", "JSON (*.json)", "JSON, a line each (*.jsonl)")


def ask_file(
    owner: QWidget,
    title: str,
    name: str,
    chosen: Callable[[Path], object],
    refused: Callable[[], object] = lambda: None,
) -> None:
    """Ask where to, with ``name`` (without an ending) offered; ``refused``: nobody chose a file."""
    dialog = QFileDialog(owner, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(FORMS))
    dialog.selectFile(f"{name}.csv")
    dialog.setDefaultSuffix("csv")
    dialog.filterSelected.connect(lambda form: dialog.setDefaultSuffix(_suffix(form)))
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.rejected.connect(refused)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _suffix(form: str) -> str:
    return form.rsplit("*.", 1)[-1].rstrip(")")
