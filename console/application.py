"""The program with a window: Qt, the qasync loop, and whether there is a screen at all.

The one ``QApplication``; where Qt cannot reach the screen it would end the program, so that is told before.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from services import i18n
from services import log as logs
from services import settings as config
from services.cli import output, spoken
from services.cli.context import EXIT_FAILED, EXIT_OK, ConsoleRequest
from services.domain.errors import ConsoleError
from services.domain.text.said import said
from services.i18n import N_

TOLD_WIDTH = 520


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
    _be_called("Fleetdeck")
    return app


def _be_called(name: str) -> None:
    """Windows takes the windows of a Python program for Python's: its icon in the taskbar, its name over notifications.
    The shortcut of the setup has the same name, so that both are one button (resources/deploy/windows).
    """
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(name)


def tell(words: str) -> None:
    """Show why no window opens, where there is a screen, and come back when it was read."""
    if not has_display() or config.console_environment()["QT_QPA_PLATFORM"] in ("offscreen", "minimal"):
        return
    # read when it is needed: the window opens sooner
    from views.dialogs.frame import DialogFrame
    from views.support.look import Label
    from views.theme import theme
    from views.widgets.buttons import Button

    theme().set_mode("system")
    theme().install(application())
    dialog = DialogFrame(N_("Fleetdeck cannot be opened"), icon="ph.warning")
    dialog.setFixedWidth(TOLD_WIDTH)
    dialog.body.setContentsMargins(20, 16, 20, 16)
    dialog.body.addWidget(Label(words, wrap=True))
    close = Button(N_("Close"), hint="Esc")
    close.clicked.connect(dialog.reject)
    dialog.foot.addStretch(1)
    dialog.foot.addWidget(close)
    dialog.exec()


def _on_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    """Qt aborts after the message that it cannot go on: a core file, and no word of what would help."""
    sys.stderr.write(f"{text.strip()}\n")
    if kind is QtMsgType.QtFatalMsg:
        _say(
            N_(
                "fleetdeck: the screen cannot be used, so there is no window. Look at DISPLAY or WAYLAND_DISPLAY; with"
                " QT_QPA_PLATFORM=offscreen the window is painted into memory, and every command works without one\n"
            )
        )
        os._exit(EXIT_FAILED)


def _say(words: str) -> None:
    """Tell it in the language of the command line: the window, which chooses its own, is not there yet."""
    with i18n.speaking(spoken.language(json=False)):
        output.err(spoken.phrase(words))


log = logging.getLogger(__name__)
#: Each Qt call gives up the interpreter; a computing thread may then keep the window waiting this long (Python's own
#: 5 ms are felt), a hundred times while a page opens. Shorter than this, threads that compute side by side cost more.
SWITCH_INTERVAL_S = 0.0001


def run(request: ConsoleRequest) -> int:
    """Show the window until it is closed; without a display it is painted into memory.

    Raises:
        ConsoleError: Qt cannot be loaded.
    """
    if not has_display():
        _say(N_("fleetdeck: there is no display here, so the window is painted into memory\n"))
        if not request.screenshot and not request.seconds:
            _say(
                N_(
                    "fleetdeck: nobody sees it; Ctrl-C ends it. A picture of it: --screenshot window.png; what works"
                    " without a window: --help\n"
                )
            )
        config.use_offscreen()
    logs.set_up()
    logs.keep(request.settings.home_path, "console")
    sys.excepthook = _log_exception
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.disable()  # until the window collects by itself: what is being loaded stays
    with _Ending() as ending:
        return _show(request, ending)


def _show(request: ConsoleRequest, ending: _Ending) -> int:
    # Qt decides at import which platform it paints on, so it is loaded only now
    try:
        from console.application import application
    except ImportError as exc:
        raise ConsoleError(said("window.no_qt", error=str(exc))) from exc
    from qasync import QEventLoop

    from console.lifecycle import Console
    from console.memory import few_arenas

    app = application()
    few_arenas()
    console = Console(app, request)
    ending.tell(console.end)
    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        runner.run(console.main())
    return EXIT_OK if console.clean else EXIT_FAILED


class _Ending:
    """Ctrl-C and the request to end, remembered from the first moment on.

    Python would raise KeyboardInterrupt in the midst of loading Qt, whose modules take that for a name they lack, or
    end the process; so it is noted, and told to the console as soon as there is one.
    """

    def __init__(self) -> None:
        self._wanted = False
        self._end: Callable[[], None] = lambda: None
        self._before: dict[int, signal.Handlers | int | Callable[[int, FrameType | None], object] | None] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def tell(self, end: Callable[[], None]) -> None:
        """Call this at a signal, and now if there was one."""
        self._end = end
        if self._wanted:
            end()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._wanted = True
        self._end()


def has_display() -> bool:
    """Whether there is a screen to show a window on."""
    around = config.console_environment()
    if config.is_windows() or sys.platform == "darwin" or around["QT_QPA_PLATFORM"]:
        return True
    return bool(around["DISPLAY"] or around["WAYLAND_DISPLAY"])


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.critical("unexpected error", exc_info=(kind, error, trace))
