"""The line below the pages: mode, rates, event lag; who may act, who one is, what time it is."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from services import i18n
from services.i18n import _
from views.support import shown, text
from views.support.instant import ticks
from views.support.language import say_in_language
from views.support.look import line
from views.support.paint import draw_box, draw_focus, shape, width_of, write
from views.theme import theme
from views.theme.tokens import STATUS_BAR
from views.widgets.layout import in_row

_PAD, _GAP, _ICON = 8, 6, 12
#: with less than that the rates stand without the time that they are counted over, which their tips say too
ROOMY = 1100
#: with less than that the schedules that come next are left to their page
ROOM_FOR_DUE = 900


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of the status bar; None is shown as a dash."""

    local: bool = False
    rate_in: float | None = None  #: tasks per second
    rate_out: float | None = None
    rate_span: timedelta | None = None  #: what both are counted over
    event_lag: timedelta | None = None


class StatusPart(QAbstractButton):
    """One part: glyph, name, value."""

    def __init__(self, key: str, icon: str = "") -> None:
        super().__init__()
        self.key = key
        self._icon = icon
        self._name, self._value, self._suffix = "", "", ""
        self._tone, self._boxed = "text2", False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        # painted every second: else all that lies below it would be painted with it
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._hints: dict[bool, QSize] = {}  #: by the language: measuring words takes long
        theme().changed.connect(self._on_theme)

    def show_part(
        self,
        name: str,
        value: str = "",
        suffix: str = "",
        *,
        tone: str = "text2",
        icon: str | None = None,
        boxed: bool = False,
        tip: str = "",
    ) -> None:
        """Show texts, already translated; `boxed` puts an edge around, for what must be seen; without an `icon` the
        one stays that it had.
        """
        if tip != self.toolTip():
            self.setToolTip(tip)
        if (name, value, suffix, tone, boxed) == (self._name, self._value, self._suffix, self._tone, self._boxed):
            return
        icon = self._icon if icon is None else icon
        before, hint = self._shape(), self.sizeHint()
        self._name, self._value, self._suffix, self._tone, self._boxed = name, value, suffix, tone, boxed
        self._icon = icon
        self.setAccessibleName(" ".join(part for part in (name, value, suffix) if part))
        if self._shape() != before:
            self._hints.clear()
            if self.sizeHint() != hint:  # else the whole window would be laid out for each figure
                self.updateGeometry()
        self.update()

    def _shape(self) -> tuple[str, ...]:
        """All by which its width goes."""
        words = (self._name, self._value, self._suffix)
        return (*(shape(one) if _counts(one) else one for one in words), self._icon)

    def words(self) -> str:
        return f"{self._name} {self._value}".strip()

    def sizeHint(self) -> QSize:
        chinese = i18n.is_chinese()
        if chinese not in self._hints:
            self._hints[chinese] = self._measured()
        return self._hints[chinese]

    def _on_theme(self) -> None:
        self._hints.clear()
        self.updateGeometry()

    def _measured(self) -> QSize:
        name = _wide("caption", self._name)
        value = _wide("captionstrong", self._value)
        if self._suffix:
            value += _wide("caption", self._suffix) + 5
        icon = _ICON + _GAP if self._icon else 0
        gap = 5 if self._value and self._name else 0
        return QSize(2 * _PAD + icon + name + gap + value + 2, STATUS_BAR - 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("rail"))  # of the bar
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.height()
        edge = QRectF(1, 3, self.width() - 2, height - 6)
        if self.hasFocus():
            draw_focus(painter, edge)
        elif self._boxed:
            draw_box(painter, edge, 4, theme().color(self._tone), None)
        left = _PAD
        if self._icon:
            pixmap = theme().pixmap(self._icon, self._tone, _ICON)
            painter.drawPixmap(QPointF(left, (height - _ICON) / 2), pixmap)
            left += _ICON + _GAP
        value_tone = "text" if self._tone == "text2" else self._tone
        for words, kind, tone in (
            (self._name, "caption", self._tone),
            (self._value, "captionstrong", value_tone),
            (self._suffix, "caption", self._tone),
        ):
            for piece in _pieces(words):
                room = QRect(left, 0, self.width() - left, height)
                left += write(painter, room, piece, kind, tone, tabular=_counts(words))
            left += 5 if words else 0


class StatusBar(QFrame):
    """The line of 26 px.

    Signals:
        part_clicked: the key of a part: mode, in, out, lag, due, rights, operator, clock.
    """

    part_clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", "statusbar")
        self.setFixedHeight(STATUS_BAR)
        self._vitals = Vitals()
        self._due: int | None = None
        self._skew = timedelta()
        self._rights, self._rights_label, self._rights_tone = "", "", "retrying"
        self._operator, self._role = "", ""
        self._parts: dict[str, StatusPart] = {}
        self._dividers: dict[str, QWidget] = {}
        self._row = in_row(owner=self, margins=(4, 0, 6, 0), spacing=3)
        for key, icon in (("mode", "ph.hard-drives"), ("in", "ph.arrow-down-right"), ("out", "ph.arrow-up-right")):
            self._add(key, icon)
        self._add("lag")
        self._add("due", last=True)
        self._row.addStretch(1)
        self._add("rights", "ph.lock-open")
        self._add("operator", "ph.user-circle")
        self._add("clock", last=True)
        ticks().passed.connect(self._on_second)
        say_in_language(self.retranslate)

    def _add(self, key: str, icon: str = "", *, last: bool = False) -> None:
        part = StatusPart(key, icon)
        part.clicked.connect(lambda: self.part_clicked.emit(key))
        self._parts[key] = part
        self._row.addWidget(part)
        if not last:
            divider = line("v")
            divider.setFixedHeight(12)
            self._dividers[key] = divider
            self._row.addWidget(divider)

    def part(self, key: str) -> StatusPart:
        """Return one part."""
        return self._parts[key]

    def show_vitals(self, vitals: Vitals) -> None:
        """Show the numbers of the moment."""
        self._vitals = vitals
        mode = _("Local mode") if vitals.local else _("Fleet mode")
        self._parts["mode"].show_part(mode, icon="ph.laptop" if vitals.local else "ph.hard-drives")
        known = [rate for rate in (vitals.rate_in, vitals.rate_out) if rate is not None]
        rate_in, rate_out = text.rates(*known) if len(known) == 2 else ("–", "–")
        # the chart beside it counts seconds: without the span the two numbers would contradict each other
        span = vitals.rate_span if self.width() >= ROOMY * theme().growth else None
        span_said = _("in the last {span}").format(span=text.coarse(span)) if span else ""
        self._parts["in"].show_part(
            _("In"),
            rate_in,
            span_said,
            tip=_("New tasks a second, over the last minute or more: created, republished, due, or let go again"),
        )
        self._parts["out"].show_part(
            _("Out"),
            rate_out,
            span_said,
            tip=_("Tasks a second whose work ended: done, dead, held, or cancelled while they ran"),
        )
        lag = "–" if vitals.event_lag is None else text.milliseconds(vitals.event_lag)
        tip = _("Time from a change in the fleet until it is heard of here; how old the page is stands above")
        self._parts["lag"].show_part(_("Event lag"), lag, tip=tip)

    def show_due(self, schedules: int | None) -> None:
        """Say how many schedules come within the next minute; None hides the part."""
        self._due = schedules
        self._fit_due()
        self._parts["due"].show_part(
            _("Schedules next minute"),
            "" if schedules is None else text.count(schedules),
            tip=_("Schedules whose next run comes within a minute"),
        )

    def _fit_due(self) -> None:
        room = self.width() >= ROOM_FOR_DUE * theme().growth
        # a divider stands between two parts, never before the empty middle
        for widget in (self._parts["due"], self._dividers["lag"]):
            widget.setVisible(self._due is not None and room)

    def show_skew(self, skew: timedelta) -> None:
        """Warn that the clock of this computer is so far from that of the fleet, by which all times here go; 0: no."""
        if skew != self._skew:
            self._skew = skew
            self._show_clock()

    def show_silence(self, span: timedelta) -> None:
        """Say for how long no event came, in place of the event lag."""
        words = _("No events for {span}").format(span=text.duration(span))
        self._parts["lag"].show_part(words, tone="retrying")
        for key, name in (("in", _("In")), ("out", _("Out"))):
            self._parts[key].show_part(name, "–")
        self.show_due(None)

    def show_rights(self, reason: str = "", label: str = "", tone: str = "retrying") -> None:
        """Show that one can act, or READ-ONLY (or `label`) with the reason; both already translated."""
        self._rights, self._rights_label, self._rights_tone = reason, label, tone
        if reason:
            words = label or _("READ-ONLY")
            self._parts["rights"].show_part("", words, tone=tone, icon="ph.lock-fill", boxed=True, tip=reason)
        else:
            self._parts["rights"].show_part(_("Can act"), icon="ph.lock-open", tip=_("You can change tasks here"))

    def show_operator(self, name: str, role: str = "") -> None:
        """Show who one is; `role` is already translated."""
        self._operator, self._role = name, role
        words = f"{name} · {role}" if role else name
        self._parts["operator"].show_part(words)

    def _show_clock(self) -> None:
        zone = shown.zone()  # that of all other times on screen
        now = shown.moment(ticks().present_ms()).astimezone(zone)
        clock, name, day = f"{now:%H:%M:%S}", text.zone_name(now, zone), f"{now:%Y-%m-%d}"
        if not self._skew:
            self._parts["clock"].show_part("", clock, name, icon="", tip=day)
            return
        off = text.duration(self._skew)
        told = _("The clock of this computer differs by {span}; all times here go by that of the fleet")
        warning = _("this computer {span} off").format(span=off)
        self._parts["clock"].show_part(
            warning, clock, name, tone="retrying", icon="ph.warning-fill", boxed=True, tip=told.format(span=off)
        )

    def retranslate(self) -> None:
        self.setAccessibleName(_("Status bar"))
        self.show_vitals(self._vitals)
        self.show_due(self._due)
        self.show_rights(self._rights, self._rights_label, self._rights_tone)
        self.show_operator(self._operator, self._role)
        self._show_clock()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what has no room."""
        super().resizeEvent(event)
        self._fit_due()

    def showEvent(self, event: QShowEvent) -> None:
        """Run the clock while it can be seen."""
        super().showEvent(event)
        ticks().now_ms()  # whoever asks lets the seconds pass
        self._show_clock()

    def _on_second(self) -> None:
        if self.isVisible():
            self._show_clock()


def _counts(words: str) -> bool:
    """Figures of one width widen the hyphen too: only for what counts."""
    return words[:1].isdigit()


def _wide(kind: str, words: str) -> int:
    return sum(width_of(piece, kind, tabular=_counts(words)) for piece in _pieces(words))


def _pieces(words: str) -> tuple[str, ...]:
    """What stays laid out: the seconds of a clock apart from all that is another one only each minute."""
    return (words[:-3], words[-3:]) if words[-3:-2] == ":" and _counts(words) else (words,)
