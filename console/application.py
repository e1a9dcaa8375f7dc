"""The program with a window: Qt, the qasync loop, and whether there is a screen at all."""

from __future__ import annotations

import asyncio
import logging
import sys
from types import TracebackType

from services import log as logs
from services import settings as config
from services.entrypoints.context import EXIT_FAILED, EXIT_OK, ConsoleRequest

log = logging.getLogger(__name__)
#: Each Qt call gives up the interpreter; a computing thread may then keep the window waiting this long (Python's own
#: 5 ms are felt).
SWITCH_INTERVAL_S = 0.0005


def run(request: ConsoleRequest) -> int:
    """Show the window until it is closed; without a display it is painted into memory."""
    if not has_display():
        sys.stderr.write("fleetdeck: no display found, the window is painted offscreen\n")
        if not request.screenshot and not request.seconds:
            sys.stderr.write("fleetdeck: Ctrl-C ends it; to see it, name a picture: --screenshot window.png\n")
        config.use_offscreen()
    logs.set_up(file=request.settings.home_path / "logs" / "console.log")
    # Qt decides at import which platform it paints on, so it is loaded only now
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    from console.desk import Console

    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Fleetdeck")
    sys.excepthook = _log_exception
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    console = Console(app, request)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        try:
            runner.run(console.main())
        except KeyboardInterrupt:
            return EXIT_OK
    return EXIT_OK if console.clean else EXIT_FAILED


def has_display() -> bool:
    """Whether there is a screen to show a window on."""
    around = config.console_environment()
    if config.is_windows() or sys.platform == "darwin" or around["QT_QPA_PLATFORM"]:
        return True
    return bool(around["DISPLAY"] or around["WAYLAND_DISPLAY"])


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.critical("unexpected error", exc_info=(kind, error, trace))
