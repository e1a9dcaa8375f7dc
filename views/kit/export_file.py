"""Asks for the file that something is written to, in the forms that it can have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

FORMS = ("CSV (*.csv)", "Excel (*.xlsx)", "JSON (*.json)", "JSON, a line each (*.jsonl)")


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
    dialog = QFileDialog(owner, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(forms))
    dialog.selectFile(f"{name}.{_suffix(forms[0])}")
    dialog.setDefaultSuffix(_suffix(forms[0]))
    dialog.filterSelected.connect(lambda form: dialog.setDefaultSuffix(_suffix(form)))
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.rejected.connect(refused)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _suffix(form: str) -> str:
    return form.rsplit("*.", 1)[-1].rstrip(")")
