"""What worker and browser host say to each other: one JSON value a line."""

from __future__ import annotations

import msgspec

from services.domain.fleet.worker import BrowserState
from services.settings.browser import BrowserSettings


class Setup(msgspec.Struct, frozen=True, kw_only=True, tag="setup"):
    """First line to the host."""

    settings: BrowserSettings
    program: str
    profiles: str
    folder: str  #: of this host alone, removed with it
    as_root: bool = False
    debug_port: bool = False


class RunAttempt(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One attempt."""

    token: str
    task_id: str
    task_type: str
    platform: str
    shop_id: str
    payload: msgspec.Raw
    folder: str  #: for its files
    light: bool = False
    secrets: dict[str, str] = {}


class Lend(msgspec.Struct, frozen=True, kw_only=True, tag="lend"):
    """Hold the shop's browser for a program that attaches to its debug port, until ``Cancel`` or the end."""

    token: str
    platform: str
    shop_id: str


class LetGo(msgspec.Struct, frozen=True, kw_only=True, tag="let_go"):
    """End the browser of a shop; ``force``: also one in which a task works, whose attempt fails then."""

    token: str
    platform: str
    shop_id: str
    force: bool = False


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """Give the attempt up; ``force``: with its browser."""

    token: str
    force: bool = False


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The host can take orders."""


class Pulse(msgspec.Struct, frozen=True, kw_only=True, tag="pulse"):
    """It is alive; what its pool looks like."""

    total: int = 0
    busy: int = 0
    launches: int = 0
    reused: int = 0
    memory_mb: float = 0.0
    version: str = ""  #: of Chromium, once one was started
    places: tuple[BrowserState, ...] = ()


class Log(msgspec.Struct, frozen=True, kw_only=True, tag="log"):
    """A line for the task's log."""

    token: str
    text: str
    stream: str = "out"


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """How far it is."""

    token: str
    percent: int
    note: str


class File(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """A file lies in the attempt's folder."""

    token: str
    path: str
    name: str
    kind: str
    step: str = ""


class Lent(msgspec.Struct, frozen=True, kw_only=True, tag="lent"):
    """The browser is held; its debug port."""

    token: str
    port: int


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The attempt is over. ``unable``: nothing was begun."""

    token: str
    ok: bool
    result: str = ""
    error: str = ""
    error_kind: str = ""
    unable: bool = False


Order = Setup | RunAttempt | Lend | LetGo | Cancel
Word = Ready | Pulse | Log | Progress | File | Lent | End
read_order = msgspec.json.Decoder(Order).decode
read_word = msgspec.json.Decoder(Word).decode
write = msgspec.json.Encoder().encode
