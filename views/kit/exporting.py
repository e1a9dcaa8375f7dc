"""What is told of a file that tasks or entries are written to: it is under way, it stands there, or it does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from services.i18n import N_, _
from views.support import safe
from views.widgets.toast import ToastAction, ToastSpec, action


def under_way(path: Path, stop: Callable[[], None], key: str) -> ToastSpec:
    """It is being written; ``stop`` ends that."""
    words = _("Exporting to {file}").format(file=safe.one_line(path.name, 60))
    return ToastSpec(text=words, status="running", actions=(action(N_("Stop"), stop),), sticky=True, key=key)


def folder_of(path: Path) -> ToastAction:
    """Show where it stands."""
    return action(N_("Open folder"), partial(_open, path.parent))


def stopped(key: str) -> ToastSpec:
    """A person wanted no more of it."""
    return ToastSpec(text=_("Export stopped; nothing was written."), status="cancelled", key=key)


def _open(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
