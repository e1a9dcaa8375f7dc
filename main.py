"""Fleetdeck: the operations console and the task engine under it."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    gc.disable()  # what is being loaded stays, and looking through it again and again is a tenth of the start
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C while modules are being loaded: nothing has begun that would have to end in order
        signal.signal(signal.SIGINT, signal.SIG_DFL)

from services import settings
from services.cli import output, program


def _console(request: program.ConsoleRequest) -> int:
    """Open the window; Qt is loaded here and nowhere in the headless commands."""
    from console.application import run

    return run(request)


def _tell(words: str) -> None:
    """Say why no window opens to whoever clicked on its icon."""
    with contextlib.suppress(ImportError):  # that Qt cannot be loaded is told by nothing of it
        from console.application import tell

        tell(words)


def main() -> int:
    """Run the command line with the words of this process."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()
    gc.enable()
    unseen = sys.stderr is None or settings.launched()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # Windows' program without a console: what is said there is said to nobody
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    output.speak_utf8()
    return program.run(sys.argv[1:], _console, _tell if unseen else None)


if __name__ == "__main__":
    sys.exit(main())
