"""The one ``QApplication``; where Qt cannot reach the screen it would end the program, so that is told before."""

from __future__ import annotations

import os
import sys

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from services.cli.context import EXIT_FAILED


def application() -> QApplication:
    """Return the application, made now if there is none."""
    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    qInstallMessageHandler(_on_message)
    try:
        app = QApplication(sys.argv[:1])
    finally:
        qInstallMessageHandler(None)
    app.setApplicationName("Fleetdeck")
    return app


def _on_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    """Qt aborts after the message that it cannot go on: a core file, and no word of what would help."""
    sys.stderr.write(f"{text.strip()}\n")
    if kind is QtMsgType.QtFatalMsg:
        sys.stderr.write(
            "fleetdeck: the screen cannot be used, so there is no window. Look at DISPLAY or WAYLAND_DISPLAY; with"
            " QT_QPA_PLATFORM=offscreen the window is painted into memory, and every command works without one\n"
        )
        sys.stderr.flush()
        os._exit(EXIT_FAILED)
