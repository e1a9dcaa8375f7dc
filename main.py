"""Fleetdeck: the operations console and the task engine under it."""

from __future__ import annotations

import gc
import signal
import sys

if __name__ == "__main__":
    gc.disable()  # what is being loaded stays, and looking through it again and again is a tenth of the start
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C while modules are being loaded: nothing has begun that would have to end in order
        signal.signal(signal.SIGINT, signal.SIG_DFL)

from services.cli import output, program


def _console(request: program.ConsoleRequest) -> int:
    """Open the window; Qt is loaded here and nowhere in the headless commands."""
    from console.application import run

    return run(request)


def main() -> int:
    """Run the command line with the words of this process."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()
    gc.enable()
    output.speak_utf8()
    return program.run(sys.argv[1:], _console)


if __name__ == "__main__":
    sys.exit(main())
