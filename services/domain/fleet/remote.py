"""What a worker shows of its machine to a person who sits at another one, while that person wants to see it."""

from __future__ import annotations

import msgspec

from services.domain.upkeep.stored import Instant

#: kinds of documents: what a shop's browser shows (by shop), the last lines of a worker's log (by worker)
WINDOWS, LOGS = "window", "worker_log"
#: a window that nobody closes is closed after so long: no task of its shop runs meanwhile
WINDOW_MS = 900_000
#: a picture larger than that is not sent
PICTURE_BYTES = 400_000
LOG_LINES, LINE_CHARS = 200, 400
#: a log is shown for so long after it was asked for, and at most for so long at once
LOG_S, MOST_LOG_S = 300, 3_600
#: a worker tells the end of so many orders
ANSWERS = 8


class OrderEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an order that takes a while."""

    order: str  #: as it was given
    at: Instant = 0  #: UTC ms, by the clock of the store
    error: str = ""  #: English; "" where it is done


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The browser of a shop, open for a person on the machine of a worker."""

    shop: str  #: platform:shop_id
    worker: str
    opened: Instant = 0  #: UTC ms
    at: Instant = 0  #: when it was looked at
    url: str = ""  #: of the page in front, without what stands behind "?"
    logged_in: bool = False  #: no page asked for a login or showed a captcha
    visible: bool = False  #: somebody at that machine sees it too
    picture: bytes = b""  #: JPEG, "" where none could be taken


class LogLine(msgspec.Struct, frozen=True, array_like=True):
    """One line of a program's log."""

    at: Instant
    level: str
    text: str


class WorkerLog(msgspec.Struct, frozen=True, kw_only=True):
    """The last lines that the program of a worker has logged."""

    worker: str
    at: Instant = 0  #: UTC ms
    lines: tuple[LogLine, ...] = ()  #: the newest last


dump = msgspec.json.Encoder().encode
read_window = msgspec.json.Decoder(Window).decode
read_log = msgspec.json.Decoder(WorkerLog).decode
