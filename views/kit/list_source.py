"""Where the rows of a table come from: asked for off the GUI thread, asked for again, never shown out of turn.

    self._source = ListSource(self._call, Wanted(), self, most=5000)
    self._source.listed.connect(self._show)
    self._source.ask(Wanted(filter="status:dead"))     # a person wants something else
    self._source.again(settle=False)                   # something was done; rows stay where they are
    self._source.soon()                                # the feed says that something may have changed
    self._source.more(loaded)                          # the end of the table is near

    def _call(self, ask: Ask[Wanted]) -> Callable[[], Listing] | None:
        return partial(_list, self._queries, ask.wanted, ask.limit, ask.settle)      # values only: it runs in a thread

Only the answer to the newest question arrives. A person's question settles: order and departures take effect with its
answer, also where a live question came in between.
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from services.monitor.live import Snapshot
from views.support.feed import Feed
from views.support.operation import Operation

W = TypeVar("W")
FIRST, MORE = 200, 200
#: what changed is asked for at once where nothing was asked lately; while more goes on changing at this pace, and a
#: slow answer so much less often that asking takes a fifth of the time at most
NEWS_MS, SOON_MS, SHARE = 30, 150, 5
#: after so many answers in a row that followed no news, what is to rest asks seldom
CALM_ANSWERS = 2

_ALL: weakref.WeakSet[ListSource[Any]] = weakref.WeakSet()


def behind_s(window: QWidget) -> float:
    """For how many seconds something has changed that what is seen in a window does not show yet; 0 where all is."""
    # looked at every second: few have news
    late = [one for one in _ALL if one.has_news and isValid(one)]
    return max((one.behind_s for one in late if one.active and one.stands_in(window)), default=0.0)


class Ask(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
    """One question."""

    wanted: W
    limit: int  #: rows
    settle: bool  #: a person asked, so order and departures take effect


class ListSource(QObject, Generic[W]):
    """Follows what is asked for while the page is seen.

    Signals:
        listed: the answer to the newest question.
        failed: its error.
    """

    listed = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        call: Callable[[Ask[W]], Callable[[], Any] | None],
        wanted: W,
        owner: QObject,
        *,
        most: int = FIRST,
        soon_ms: int = SOON_MS,
        every_ms: int = 0,
        lasting: bool = False,
        in_turn: bool = False,
        follows: Feed | None = None,
        rest_ms: int = 0,
    ) -> None:
        """``call`` makes of a question what runs in a thread, None where there is nothing to ask; ``most``: rows that
        are loaded at most; ``every_ms``: how often it is asked again while it is seen, 0 for only when told to;
        ``lasting``: an answer may take minutes, see ``Operation``; ``in_turn``: one question at a time, what is asked
        meanwhile is asked once more after it; ``follows``: any event may change the answer, so it is asked ``soon``;
        ``rest_ms``: how often where a few answers found nothing to have happened, while all that is heard of the fleet
        makes it ask ``soon`` as well.
        """
        super().__init__(owner)
        self._call, self._wanted, self._most = call, wanted, most
        self._asked = wanted  #: of the question under way
        self._in_turn = in_turn
        self._next: bool | None = None  #: the question that waits for the answer under way: whether it settles
        self._limit, self._settle, self._active = FIRST, False, False
        self._asking = Operation(self, latest=True, lasting=lasting)
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._ask_news)
        self._soon_ms, self._asked_at, self._took_ms = soon_ms, -math.inf, 0.0
        self._stale = False  #: something may have changed since the question under way was asked
        #: the first change that is not shown, and that since the question under way; monotonic seconds
        self._news_at = self._newer_at = math.inf
        _ALL.add(self)
        self._every = QTimer(self, interval=max(1, every_ms))
        self._every.timeout.connect(self._ask_live)
        self._regular, self._seen_by = bool(every_ms), owner if isinstance(owner, QWidget) else None
        if self._regular and self._seen_by is not None:
            self._seen_by.installEventFilter(self)
        self._pace, self._rest_ms = max(1, every_ms), rest_ms
        self._calm = 0  #: answers in a row before which nothing was heard
        self._follows = follows if rest_ms else None
        self._heard: object = None  #: see ``Snapshot.heard``
        if follows is not None:
            follows.changed.connect(self._on_changed)
            if rest_ms:
                follows.looked.connect(self._on_looked)

    @property
    def wanted(self) -> W:
        """What is asked for now."""
        return self._wanted

    @property
    def active(self) -> bool:
        """Whether it follows: the page is in use and can be seen."""
        return self._active and self._is_seen()

    @property
    def has_news(self) -> bool:
        """Whether something has changed that its newest answer does not tell."""
        return self._news_at < math.inf

    @property
    def behind_s(self) -> float:
        """For how many seconds something has changed that its newest answer does not tell."""
        return max(0.0, time.monotonic() - self._news_at)

    def stands_in(self, window: QWidget) -> bool:
        """Whether its rows are seen in this window."""
        owner: QObject | None = self.parent()
        while owner is not None and not isinstance(owner, QWidget):
            owner = owner.parent()
        return isinstance(owner, QWidget) and owner.window() is window and owner.isVisible()

    @property
    def every_ms(self) -> int:
        """How often it is asked again, in milliseconds."""
        return self._every.interval()

    @property
    def busy(self) -> bool:
        """Whether an answer is under way; one that is wanted no more may take its time."""
        return self._asking.awaited

    @property
    def settling(self) -> bool:
        """Whether the answer under way is to a person's question."""
        return self.busy and self._settle

    def ask(self, wanted: W, first: int = FIRST) -> None:
        """Show something else, at most its ``first`` rows for now."""
        self._wanted, self._limit = wanted, first
        self._calm = 0
        self._keep_pace()
        self.again()

    def again(self, *, settle: bool = True) -> None:
        """Ask the same once more; ``settle``: and put everything in its place."""
        if self._in_turn and self.busy:
            self._next = settle or bool(self._next)
            return
        self._settle = self._settle or settle
        call = self._call(Ask(wanted=self._wanted, limit=self._limit, settle=self._settle))
        if call is not None:
            self._asked, self._asked_at, self._stale = self._wanted, time.monotonic(), False
            self._newer_at = math.inf
            self._asking.start(call, self._tell, self._fail)
        else:
            self._asking.drop()  # what was asked before is wanted no more
            self._news_at = self._newer_at = math.inf

    def ask_every(self, every_ms: int, news_ms: int = 0) -> None:
        """Ask at another pace from now on; ``news_ms``: for what changes, no more often than this (0: as before)."""
        self._pace = every_ms
        self._soon_ms = news_ms or self._soon_ms
        self._keep_pace()

    def more(self, loaded: int) -> None:
        """Load the next rows, where ``loaded`` are all that were asked for and there may be more. A look for news that
        is under way does not hold it up.
        """
        if loaded >= self._limit < self._most and not self.settling:
            self._limit += MORE
            self.again()

    def keep(self, rows: int) -> None:
        """Ask for so many from now on, in whole portions; what is beyond them leaves with the next answer."""
        self._limit = min(self._most, max(FIRST, math.ceil(rows / MORE) * MORE))

    def set_active(self, active: bool) -> None:
        """Ask now and follow, or ask no more."""
        self._active = active
        if not active:
            self._soon.stop()
            self._every.stop()
            self._news_at = self._newer_at = math.inf
            return
        self._calm, self._heard = 0, self._follows.latest.heard() if self._follows is not None else None
        self._keep_pace()
        if self._regular:
            self._every.start()
        if self._regular and not self._is_seen():
            self._settle = True  # asked once it is shown
        else:
            self.again()

    def soon(self, ms: int = 0) -> None:
        """Ask again in a moment (``ms``, else as soon as the pace allows); however often it is said meanwhile, once."""
        if not ms:
            self.note_news()
        wait = ms or self._until_due()
        if self._active and (not self._soon.isActive() or wait < self._soon.remainingTime()):
            self._soon.start(wait)

    def note_news(self) -> None:
        """Something has changed that is not shown yet."""
        self._calm = 0
        self._keep_pace()
        if self._active:
            now = time.monotonic()
            self._news_at = min(self._news_at, now)
            self._newer_at = min(self._newer_at, now) if self.busy else math.inf

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Be up to date at once where the widget is shown again."""
        if self._active and event.type() == QEvent.Type.Show:
            self.again(settle=False)
        return False

    @Slot(object)
    def _on_changed(self, _changes: object) -> None:
        self.soon()

    @Slot(object)
    def _on_looked(self, snapshot: Snapshot) -> None:
        if self._active:
            before, self._heard = self._heard, snapshot.heard()
            if before != self._heard:
                self.soon()

    def _keep_pace(self) -> None:
        pace = max(self._pace, self._rest_ms) if self._calm >= CALM_ANSWERS else self._pace
        if pace != self._every.interval():
            self._every.setInterval(pace)

    def _ask_news(self) -> None:
        if self.active and self.busy:
            self._stale = True  # the answer under way may be older than what has changed
        else:
            self._ask_live()

    def _ask_live(self) -> None:
        if self.active and not self.busy:
            self.again(settle=False)

    def _until_due(self) -> int:
        """Milliseconds until it may be asked again for what changes by itself."""
        since = (time.monotonic() - self._asked_at) * 1000
        return round(max(NEWS_MS, self._soon_ms + SHARE * self._took_ms - since))

    def _is_seen(self) -> bool:
        return self._seen_by is None or self._seen_by.isVisible()

    def _tell(self, answer: object) -> None:
        self._settle = False
        if self._take():
            self._calm += 1
            self._keep_pace()
            self.listed.emit(answer)

    def _fail(self, error: BaseException) -> None:
        if self._take():
            self.failed.emit(error)

    def _take(self) -> bool:
        """Ask on; whether what has come, an error too, is of what is wanted now and will be told."""
        wanted = self._asked == self._wanted
        if wanted:
            self._news_at = self._newer_at
        self._took_ms = (time.monotonic() - self._asked_at) * 1000
        settle, self._next = self._next, None
        if settle is not None:
            self.again(settle=settle)
        elif self._stale:
            self._stale = False
            self.soon()
        return wanted
