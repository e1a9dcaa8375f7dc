"""Looking back: what the fleet was at a moment of the last 30 days, and what changed around it."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from PySide6.QtCore import QDate, QDateTime, Qt, QTime, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services import spans
from services.domain.insight import shop as shops
from services.domain.past.frame import LEADER, UNTOLD, Numbers
from services.domain.past.lanes import Lanes
from services.domain.past.turns import by_state
from services.i18n import N_, _
from services.messages import told
from services.monitor.past.queries import AROUND_MS, PastNow
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.dialogs.notice import Notice
from views.dialogs.past.strip import PastStrip
from views.dialogs.past.then import Then, ThenView, look
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import shop as shop_words
from views.widgets.buttons import Button
from views.widgets.fields import DateTimeField, Labelled
from views.widgets.key_values import KeyValues
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented
from views.widgets.timeline import Timeline, TimelineEntry

LEAST, WIDTH, EDGE, ROOM_HEIGHT = 900, 1160, 40, 262
TYPING_MS, LOOK_MS = 250, 5_000
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
SPANS = {"6h": 6 * HOUR_MS, "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS, "30d": 30 * 24 * HOUR_MS}
STRIP_MS = 30_000  #: how often the strip is asked again
NAMED = 6
#: the glyph of a change, by its kind and what became of it
_GLYPHS = {
    "past.shop_well": "healthy",
    "past.broker_back": "healthy",
    "past.worker_back": "healthy",
    "past.worker_silent": "warning",
    "past.worker_cut_off": "warning",
    "past.leader_none": "warning",
    "past.broker_lost": "dead",
    "past.broker_blocked": "blocked",
    "past.shop_dead": "dead",
    "past.shop_login": "warning",
    "past.shop_stuck": "stuck",
    "past.shop_held": "unconfirmed",
    "past.shop_breaker": "warning",
    "past.shop_paused": "paused",
    "past.switch_paused": "paused",
    "past.gap": "unconfirmed",
}


class PastDialog(DialogFrame):
    """Open it with ``open()``. It shows another time, so nothing can be done in it.

    Signals:
        answered: another answer stands there.
        stretched: another stretch of the past does.
    """

    answered = Signal()
    stretched = Signal()

    def __init__(self, context: PageContext, at_ms: int = 0, parent: QWidget | None = None) -> None:
        """``at_ms``: the moment that is shown first, UTC; 0 for ten minutes ago."""
        super().__init__(N_("Look back in time"), icon="ph.rewind", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        room = parent.window().width() - EDGE if parent is not None else WIDTH
        self.setFixedWidth(max(LEAST, min(WIDTH, room)))
        self._context = context
        self._at = at_ms or instant.now_ms() - AROUND_MS
        self._found: PastNow | None = None
        self._error: BaseException | None = None
        self._asking = Operation(self, latest=True)
        self._soon = Debounce(self._ask, TYPING_MS, self)
        self._again = QTimer(self, interval=LOOK_MS)
        self._again.timeout.connect(self._look_again)
        self._stretch = Operation(self, latest=True)
        self._strip_again = QTimer(self, interval=STRIP_MS)
        self._strip_again.timeout.connect(self._ask_strip)
        self._build()
        self._show_time()
        self._connect()
        self._say()
        self._ask()
        self._ask_strip()
        self._again.start()
        self._strip_again.start()

    # putting together

    def _build(self) -> None:
        self.when = DateTimeField()
        self.when.setDisplayFormat("yyyy-MM-dd HH:mm:ss")
        self._field = Labelled(N_("Moment"), self.when)
        self.earlier_change = Button(icon="ph.skip-back", tip=N_("Change before (Ctrl+Left)"))
        self.back, self.minute_back = Button(N_("−10 min")), Button(N_("−1 min"))
        self.minute_on, self.on = Button(N_("+1 min")), Button(N_("+10 min"))
        self.later_change = Button(icon="ph.skip-forward", tip=N_("Change after (Ctrl+Right)"))
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._field, 1)
        steps = (self.earlier_change, self.back, self.minute_back, self.minute_on, self.on, self.later_change)
        for step in steps:
            top.addWidget(step, alignment=Qt.AlignmentFlag.AlignBottom)
        self.span = Segmented(
            (("6h", N_("6 h")), ("24h", N_("24 h")), ("7d", N_("7 d")), ("30d", N_("30 d"))), N_("How much is shown")
        )
        self.span.set_current("24h")
        top.addWidget(self.span, alignment=Qt.AlignmentFlag.AlignBottom)
        self.body.addLayout(top)
        self.strip = PastStrip()
        self.body.addWidget(self.strip)
        self.answer = Notice("scheduled")  # purple means another time, nothing else
        self.hint = Label("", "body", "text3", wrap=True)
        self.body.addWidget(self.answer)
        self.body.addWidget(self.hint)
        self.then = KeyValues(spread=True)
        self.shops = Label("", "label", "text2", wrap=True)
        left = QVBoxLayout()
        left.setSpacing(12)
        left.addWidget(self.then)
        left.addWidget(self.shops)
        left.addStretch(1)
        self.changes = Timeline()
        self._changes_title = Label("", "strong")
        scroll = ScrollPane()
        scroll.body.addWidget(self.changes)
        scroll.body.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self._changes_title)
        right.addWidget(scroll, 1)
        room = QWidget()
        room.setFixedHeight(ROOM_HEIGHT)  # with an answer or without one the fields stay where they are
        sides = QHBoxLayout(room)
        sides.setContentsMargins(0, 0, 0, 0)
        sides.setSpacing(24)
        self.drawn = ThenView()
        sides.addLayout(left, 4)
        sides.addWidget(self.drawn, 7)
        sides.addLayout(right, 6)
        self.body.addWidget(room)
        self.copy_button = Button(N_("Copy as text"), icon="ph.copy")
        self.close_button = Button(N_("Back to now"), hint="Esc")
        self.foot.addWidget(self.copy_button)
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)

    def _connect(self) -> None:
        self.when.dateTimeChanged.connect(lambda _when: self._on_typed())
        for button, ms in ((self.back, -10), (self.minute_back, -1), (self.minute_on, 1), (self.on, 10)):
            button.clicked.connect(partial(self._move, ms * MINUTE_MS))
        self.earlier_change.clicked.connect(lambda: self._go(self._found.before_ms if self._found else 0))
        self.later_change.clicked.connect(lambda: self._go(self._found.after_ms if self._found else 0))
        for keys, button in (("Ctrl+Left", self.earlier_change), ("Ctrl+Right", self.later_change)):
            QShortcut(QKeySequence(keys), self).activated.connect(button.click)
        self.strip.moved.connect(self._on_dragged)
        self.strip.zoomed.connect(self._zoom)
        self.span.chosen.connect(lambda _key: self._ask_strip())
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.reject)
        on_language_changed(self._say)

    # asking

    @property
    def at_ms(self) -> int:
        """The moment that is shown, UTC ms."""
        return self._at

    def _show_time(self) -> None:
        local = shown.moment(self._at).astimezone(shown.zone())
        self.when.blockSignals(True)
        self.when.setDateTime(
            QDateTime(QDate(local.year, local.month, local.day), QTime(local.hour, local.minute, local.second))
        )
        self.when.blockSignals(False)
        self.strip.set_moment(self._at)

    def _on_typed(self) -> None:
        at = self.when.dateTime()
        day, clock = at.date(), at.time()
        local = datetime(
            day.year(), day.month(), day.day(), clock.hour(), clock.minute(), clock.second(), tzinfo=shown.zone()
        )
        self._at = round(local.timestamp() * 1000)
        self.strip.set_moment(self._at)
        self._soon()

    def _on_dragged(self, at_ms: int) -> None:
        self._at = at_ms
        self._show_time()
        self._soon()

    def _zoom(self, more: int) -> None:
        keys = list(SPANS)
        place = keys.index(self.span.current()) + more
        self.span.choose(keys[min(max(place, 0), len(keys) - 1)])

    def _ask_strip(self) -> None:
        end, wide = instant.now_ms(), SPANS[self.span.current()]
        if end - wide > self._at:  # what is looked at stays in sight
            end = self._at + wide // 2
        self._stretch.start(partial(self._context.past.lanes, end - wide, end), self._take_strip, self._fail)

    def _take_strip(self, lanes: Lanes) -> None:
        self.strip.set_lanes(lanes)
        self.strip.set_moment(self._at)
        self.stretched.emit()

    def _move(self, by_ms: int) -> None:
        self._go(min(self._at + by_ms, instant.now_ms()))

    def _go(self, at_ms: int) -> None:
        if at_ms:
            self._at = at_ms
            self._show_time()
            self._ask()
            if not self.strip.shows(at_ms):
                self._ask_strip()

    def _ask(self) -> None:
        at = self._at
        if at > instant.now_ms():
            self._found, self._error = None, None
            self._say()
            return
        self._asking.start(partial(_look, self._context, at), self._take, self._fail)

    def _look_again(self) -> None:
        """What comes after the moment may still be written, and what failed may work by now."""
        found = self._found
        growing = found is None or found.asked_ms + AROUND_MS >= instant.now_ms() - LOOK_MS
        if self.isVisible() and growing and not self._asking.busy:
            self._ask()

    def _take(self, answer: tuple[PastNow, Then]) -> None:
        found, then = answer
        if found.asked_ms == self._at:
            self._found, self._error = found, None
            self._say()
            self.drawn.show_then(then)
            self.answered.emit()

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._say()

    # words

    def _say(self) -> None:
        self._changes_title.setText(_("What changed"))
        found, now = self._found, instant.now_ms()
        current = found if found is not None and found.asked_ms == self._at else None
        self.earlier_change.disable("" if current and current.before_ms else _("No earlier change is known here"))
        self.later_change.disable("" if current and current.after_ms else _("No later change is known here"))
        for button in (self.minute_on, self.on):
            button.disable("" if self._at < now else _("That has not been yet"))
        self.copy_button.disable("" if current else _("Nothing is shown yet"))
        problem = told(self._error) if self._error is not None else ""
        if not problem and self._at > now:
            problem = _("That has not been yet")
        if not problem and found is None:
            problem = _("Asking…")
        self.hint.setText(problem)
        self.hint.setVisible(bool(problem))
        if found is None or self._at > now:
            self.answer.show_words("", "")
            self.then.set_rows(())
            self.drawn.show_then(None)
            self.shops.setText("")
            self.changes.set_entries(())
            return
        lead, words = _headline(found, now)
        self.answer.set_status("scheduled" if found.moment is not None else "unconfirmed")
        self.answer.show_words(lead, words)
        self.then.set_rows(_rows(found))
        self.shops.setText("\n".join(_shop_lines(found)))
        self.changes.set_entries(_entries(found))

    def _copy(self) -> None:
        found = self._found
        if found is None:
            return
        now = instant.now_ms()
        lines = [" ".join(filter(None, _headline(found, now)))]
        lines += [f"{name}: {value}" for name, value in _rows(found)]
        lines += [*_shop_lines(found), ""]
        lines += [f"{entry.time}  {entry.text}" for entry in _entries(found)]
        QGuiApplication.clipboard().setText("\n".join(map(safe.masked, lines)))


def _look(context: PageContext, at_ms: int) -> tuple[PastNow, Then]:
    found = context.past.at(at_ms)
    return found, look(context.past, found, context.shops().values(), instant.now_ms())


def _clock(at_ms: int) -> str:
    """The time to the second, and the day where it is not today."""
    clock = shown.moment(at_ms).astimezone(shown.zone())
    today = shown.moment(instant.now_ms()).astimezone(shown.zone()).date()
    return clock.strftime("%H:%M:%S" if clock.date() == today else "%m-%d %H:%M:%S")


def _headline(found: PastNow, now: int) -> tuple[str, str]:
    at = _clock(found.asked_ms)
    if found.moment is not None:
        ago = spans.of_seconds(max(0, now - found.asked_ms) // 1000)
        leads = next((state for (kind, _name), state in found.moment.things.items() if kind == LEADER), "")
        step = spans.of_seconds(found.moment.step_ms // 1000)
        if not found.moment.told:
            return _("The fleet at {time}, {span} ago").format(time=at, span=ago), _(
                "Only the numbers are kept of then."
            )
        return (
            _("The fleet at {time}, {span} ago").format(time=at, span=ago),
            _("Recorded every {span}; {who} led.").format(span=step, who=leads)
            if leads
            else _("Recorded every {span}; nobody led.").format(span=step),
        )
    if not found.first_ms:
        return (
            _("Nothing was ever recorded on this computer"),
            _("Whoever leads records, on its own machine: a worker, or this window where all is on one computer."),
        )
    if found.gap is not None:
        begin, end = (_clock(at_ms) for at_ms in found.gap)
        return (
            _("No record from {begin} to {end}").format(begin=begin, end=end),
            _("Nobody led on this computer then. Nothing is made up for a gap."),
        )
    begin, end = (_clock(at_ms) for at_ms in (found.first_ms, found.last_ms))
    return (
        _("No record of {time}").format(time=at),
        _("This computer knows {begin} to {end}.").format(begin=begin, end=end),
    )


def _rows(found: PastNow) -> list[tuple[str, str]]:
    if found.moment is None:
        return []
    then, now = found.moment.numbers, found.latest
    rows = [
        (_("Waiting"), "waiting"),
        (_("Running"), "running"),
        (_("Retrying"), "retrying"),
        (_("To decide"), "held"),
        (_("Dead letters"), "dead"),
        (_("Unacked"), "unacked"),
        (_("Workers"), "workers"),
        (_("Slots at work"), "busy"),
    ]
    return [(word, _pair(then, now, name)) for word, name in rows] + [(_("Oldest waits"), _oldest(then))]


def _pair(then: Numbers, now: Numbers | None, name: str) -> str:
    was = getattr(then, name)
    value = text.count(was) if was != UNTOLD else _("not told")
    if now is None or getattr(now, name) in (was, UNTOLD):
        return value
    return _("{then}, now {now}").format(then=value, now=text.count(getattr(now, name)))


def _oldest(then: Numbers) -> str:
    return spans.of_seconds(then.oldest_s) if then.waiting else "–"


def _shop_lines(found: PastNow) -> list[str]:
    if found.moment is None:
        return []
    if not found.moment.told:
        return [_("What shops and workers did then is not kept any more.")]
    lines = []
    for state, names in by_state(found.moment.things).items():
        word = shop_words.word(state) if state in shops.WORDS else state
        rest = len(names) - NAMED
        more = _(" and {n} more").format(n=text.count(rest)) if rest > 0 else ""
        said = _("{state}: {names}").format(state=word, names=", ".join(names[:NAMED]))
        lines.append(safe.one_line(said) + more)
    return lines or [_("No shop needed anybody.")]


def _entries(found: PastNow) -> list[TimelineEntry]:
    entries = [
        TimelineEntry(
            time=shown.moment(turn.at_ms).astimezone(shown.zone()).strftime("%H:%M:%S"),
            text=safe.one_line(shown.say(turn.message)),
            status=_GLYPHS.get(turn.message.code, ""),
            future=turn.at_ms > found.asked_ms,
        )
        for turn in found.turns
    ]
    if not entries:
        begin, end = (_clock(at_ms) for at_ms in (found.begin, found.end))
        words = _("Nothing changed from {begin} to {end}").format(begin=begin, end=end)
        entries.append(TimelineEntry(time="", text=words))
    return entries
