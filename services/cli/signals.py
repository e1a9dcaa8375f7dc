"""What Ctrl-C, a request to end and the end of the terminal do while a command is at work."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at an interrupt, a request to end or the end of the terminal, as often as it comes.

    What held before holds afterwards. It is called in a thread of its own: a handler runs in the middle of whatever the
    main thread does, also inside the lock of the very event that ``stop`` sets, or inside the handler of the signal
    before, and would wait for itself.
    """
    if threading.current_thread() is not threading.main_thread():  # of a server: its own command hears them
        yield
        return
    names = ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        numbers.remove(signal.SIGHUP)  # it is to outlive its terminal
    rung: queue.SimpleQueue[bool] = queue.SimpleQueue()  # of all queues the one that a handler may use

    def listen() -> None:
        while rung.get():
            stop()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        rung.put(True)

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        rung.put(False)
        listener.join()
