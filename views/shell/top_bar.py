"""The bar above the pages: connection, health, freshness, search, New task.

bar.show_profile("Production · CN-East", "PROD", production=True)
bar.show_health([Health(key="broker", name="Broker", value="3 ms"), …])
bar.show_freshness(timedelta(seconds=0.4))
bar.set_search_enabled(True)          # once a palette listens; hidden until then
bar.set_can_create("")                # or the reason why not

The profile switcher of the top bar: glyph, name, environment tag, caret.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy

from services.i18n import N_, _
from views.shell.health_pill import Health, HealthPill
from views.support import safe, text
from views.support.elide import shorter
from views.support.keymap import keymap
from views.support.keys import Shortcut
from views.support.language import say_in_language
from views.support.paint import cut, draw_box, draw_focus, width_of, write
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, TOP_BAR
from views.widgets.buttons import Button, paint_chip, shortcut_text
from views.widgets.layout import STRETCH, in_row, tab_through

_PAD, _GAP, _ICON, _CARET = 10, 8, 15, 12
_HEIGHT, _MAX = 28, 200
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class ProfileButton(QAbstractButton):
    """Shows which fleet one is looking at; PROD is outlined in the colour of dead letters."""

    def __init__(self) -> None:
        super().__init__()
        self._unverified = False
        self._tag, self._tone, self._icon = "", "text2", "ph.globe-hemisphere-east"
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.updateGeometry)

    def show_profile(
        self, name: str, tag: str = "", *, local: bool = False, production: bool = False, unverified: bool = False
    ) -> None:
        """Show the profile `name` with the environment `tag`; `unverified`: nobody checks who answers there."""
        self.setText(safe.one_line(name, 60))
        self._unverified = unverified
        parts = [safe.one_line(tag, 12), _("TLS unchecked") if unverified else ""]
        self._tag = " · ".join(part for part in parts if part)
        self._tone = "dead" if production or unverified else "text2"
        self._icon = "ph.laptop" if local else "ph.globe-hemisphere-east"
        self.rename()
        self.updateGeometry()
        self.update()

    def rename(self) -> None:
        """Say the name again."""
        self.setAccessibleName(_("Connection: {name} {tag}").format(name=self.text(), tag=self._tag).strip())
        told = _("Nobody checks the certificate of the server: whoever stands between can read and change everything.")
        self.setToolTip("\n".join([_("Switch connection"), told]) if self._unverified else _("Switch connection"))

    def _tag_width(self) -> int:
        return QFontMetrics(theme().font("badge")).horizontalAdvance(self._tag) + 11 if self._tag else 0

    def _name(self, room: int = _MAX) -> tuple[str, int]:
        metrics = QFontMetrics(theme().font("strong"))
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        return shown, metrics.horizontalAdvance(shown) + 1

    def sizeHint(self) -> QSize:
        tag = self._tag_width()
        width = 2 * _PAD + _ICON + _GAP + self._name()[1] + (tag + _GAP if tag else 0) + _GAP + _CARET
        return QSize(width, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the room for a few letters of the name."""
        full = self.sizeHint()
        return QSize(min(full.width(), full.width() - self._name()[1] + 60), _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = theme().color("hover" if self.underMouse() else "surface")
        draw_box(painter, self.rect(), RADIUS_BUTTON, theme().color("line2"), fill)
        painter.drawPixmap(QPointF(_PAD, (_HEIGHT - _ICON) / 2), theme().pixmap(self._icon, "text2", _ICON))
        missing = max(0, self.sizeHint().width() - self.width())
        name, width = self._name(self._name()[1] - missing)
        left = _PAD + _ICON + _GAP
        write(painter, QRect(left, 0, width + 3, _HEIGHT - 1), name, "strong", "text")
        if self._tag:
            self._paint_tag(painter, left + width + _GAP)
        caret = theme().pixmap("ph.caret-down", "text3", _CARET)
        painter.drawPixmap(QPointF(self.width() - _PAD - _CARET, (_HEIGHT - _CARET) / 2), caret)
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)

    def _paint_tag(self, painter: QPainter, left: int) -> None:
        box = QRectF(left + 0.5, (_HEIGHT - 16) / 2 + 0.5, self._tag_width() - 1, 15)
        painter.setPen(theme().color(self._tone if self._tone != "text2" else "line2"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(theme().font("badge"))
        painter.setPen(theme().color(self._tone))
        painter.drawText(box, _CENTRE, self._tag)


OLD_AFTER, STALE_AFTER = timedelta(seconds=3), timedelta(seconds=15)
_SEARCH_WORDS, _SPARE = 150, 40
LIVE_GLYPH, STALE_GLYPH = "ph.broadcast", "ph.clock-counter-clockwise"


def freshness(age: timedelta | None, behind: timedelta = timedelta()) -> Health:
    """Return the pill that says how old the view is; ``behind``: for how long the page lacks what has come since."""
    if age is None:
        return Health(key="freshness", name=_("Not connected"), state="waiting")
    if age > STALE_AFTER:
        shown = text.duration(age)
        tip = _("The newest data is {span} old; nothing can be changed until it is fresh").format(span=shown)
        return Health(key="freshness", name=_("stale"), value=shown, state="warning", tip=tip, glyph=STALE_GLYPH)
    if max(age, OLD_AFTER) < behind:
        shown = _("{span} old").format(span=text.duration(behind))
        tip = _("Something has changed since; this page is still being told of it")
        return Health(key="freshness", name="", value=shown, state="warning", tip=tip, glyph=LIVE_GLYPH)
    if age > OLD_AFTER:
        shown = _("{span} old").format(span=text.duration(age))
        tip = _("Nothing newer has come since")
        return Health(key="freshness", name="", value=shown, state="warning", tip=tip, glyph=LIVE_GLYPH)
    tip = _("The data on screen is this old")
    shown = text.duration(max(age, behind))
    return Health(key="freshness", name=_("live"), value=shown, state="healthy", tip=tip, glyph=LIVE_GLYPH)


def lost(since: str, *, records: bool) -> Health:
    """Return the pill of a view of which a part, or all, stands still since a time of day."""
    if records:
        tip = _("Tasks, shops and workers are live; what the broker holds is as it was at {time}").format(time=since)
        name = _("records live, broker as of")
        return Health(key="freshness", name=name, value=since, state="warning", tip=tip, glyph=STALE_GLYPH)
    tip = _("Nothing on this screen is newer than {time}").format(time=since)
    return Health(key="freshness", name=_("as of"), value=since, state="warning", tip=tip, glyph=STALE_GLYPH)


def recorded(moment: str) -> Health:
    """Return the pill of a view that shows another time."""
    tip = _("You look at {time}. The fleet goes on as it is now.").format(time=moment)
    return Health(key="freshness", name=_("recorded"), value=moment, state="scheduled", tip=tip, glyph=STALE_GLYPH)


class SearchButton(QAbstractButton):
    """Looks like a field, opens the palette."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(34)
        self.setMaximumWidth(300)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        Shortcut("window.search", self, self.click)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(_SEARCH_WORDS, 30)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_box(painter, self.rect(), RADIUS_BUTTON, theme().color("ctl"), theme().color("input"))
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)
        painter.drawPixmap(10, (self.height() - 14) // 2, theme().pixmap("ph.magnifying-glass", "text2", 14))
        if self.width() < _SEARCH_WORDS:
            return
        chip, right = shortcut_text("window.search"), self.width() - 7
        if chip:
            right = paint_chip(painter, right, self.rect(), chip, on_fill=False, enabled=True)
        room = QRect(32, 0, right - 40, self.height() - 1)
        whole = shorter(self.text(), lambda some: width_of(some, "body") <= room.width())
        write(painter, room, cut(whole, "body", room.width()), "body", "text3")


class TopBar(QFrame):
    """The bar of 48 px.

    Signals:
        profile_requested: the list of connections is wanted at a global position.
        health_requested: more about one part: its key and a global position.
        search_requested: the palette is wanted.
        create_requested: a new task is wanted.
    """

    profile_requested = Signal(QPoint)
    health_requested = Signal(str, QPoint)
    search_requested = Signal()
    create_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", "topbar")
        self.setFixedHeight(TOP_BAR)
        self._pills: dict[str, HealthPill] = {}
        self._age: timedelta | None = None
        self._behind = timedelta()
        self._compact = False  #: whether the pills leave out their names
        self.profile = ProfileButton()
        self.profile.clicked.connect(self._on_profile)
        self._fresh = HealthPill(freshness(None))
        self._fresh.clicked.connect(lambda: self._on_pill("freshness", self._fresh))
        self.search = SearchButton()
        self.search.clicked.connect(self.search_requested)
        self.search.hide()
        self.create_button = Button(N_("New task"), kind="primary", icon="ph.plus", shortcut="window.new")
        self.create_button.clicked.connect(self.create_requested)
        self._refused = ""  #: why nothing may be created now, said every second
        self._row = in_row(
            self.profile,
            self._fresh,
            STRETCH,
            (self.search, 1000),
            self.create_button,
            owner=self,
            margins=(12, 0, 14, 0),
            spacing=8,
        )
        say_in_language(self.retranslate)
        keymap().changed.connect(self._tell_key)
        # the letters may be larger; once all that is in it knows, and speaks the language that may be another
        theme().changed.connect(self._fit, Qt.ConnectionType.QueuedConnection)

    def show_profile(
        self, name: str, tag: str = "", *, local: bool = False, production: bool = False, unverified: bool = False
    ) -> None:
        """Show which fleet this is."""
        self.profile.show_profile(name, tag, local=local, production=production, unverified=unverified)
        self._fit()

    def show_health(self, parts: Sequence[Health]) -> None:
        """Show the state of each part, in order."""
        wanted, changed = {part.key for part in parts}, False
        for key in [key for key in self._pills if key not in wanted]:
            pill = self._pills.pop(key)
            self._row.removeWidget(pill)
            pill.deleteLater()
            changed = True
        for place, part in enumerate(parts):
            if part.key not in self._pills:
                self._add_pill(place, part)
                changed = True
            elif part != self._pills[part.key].health:
                self._pills[part.key].show_health(part)
                changed = True
        if changed:
            pills = (self._pills[part.key] for part in parts)
            tab_through(self, (self.profile, *pills, self._fresh, self.search, self.create_button))
            self._fit()

    def pill(self, key: str) -> HealthPill:
        """The pill of a part that is shown, or of ``freshness``."""
        return self._fresh if key == "freshness" else self._pills[key]

    def health_name(self, key: str) -> str:
        """What a part is called in its pill."""
        return self._pills[key].health.name if key in self._pills else ""

    def _add_pill(self, place: int, part: Health) -> None:
        pill = HealthPill(part)
        pill.clicked.connect(lambda: self._on_pill(part.key, pill))
        self._pills[part.key] = pill
        self._row.insertWidget(1 + place, pill)

    def show_freshness(self, age: timedelta | None, behind: timedelta = timedelta()) -> None:
        """Say how old the view is; None while nothing has arrived. ``behind``: see ``freshness``."""
        self._age, self._behind = age, behind
        self._tell_fresh(freshness(age, behind))

    def show_lost(self, since: str, *, records: bool) -> None:
        """Say since when nothing is new; ``records``: those of tasks, shops and workers still are."""
        self._age = timedelta.max if not records else timedelta()
        self._tell_fresh(lost(since, records=records))

    def show_recorded(self, moment: str) -> None:
        """Say that a moment of the past is seen, and which."""
        self._tell_fresh(recorded(moment))

    def _tell_fresh(self, health: Health) -> None:
        if health != self._fresh.health:
            before = self._fresh.room(compact=False)
            self._fresh.show_health(health)
            if self._fresh.room(compact=False) != before:  # every second there is another figure as wide as the last
                self._fit()

    def _fit(self) -> None:
        """Leave the names of the pills to their tool tips where there is no room for them, until there is some to
        spare: a figure that is a little wider now and then must not make them come and go.
        """
        pills = (*self._pills.values(), self._fresh)
        margins, gap = self._row.contentsMargins(), self._row.spacing()
        needed = margins.left() + margins.right() + gap * (len(pills) + 3)
        needed += self.profile.sizeHint().width() + self.create_button.sizeHint().width()
        needed += _SEARCH_WORDS if not self.search.isHidden() else 0
        needed += sum(pill.room(compact=False).width() for pill in pills)
        self._compact = needed > self.width() - (_SPARE if self._compact else 0)
        for pill in pills:
            pill.set_compact(self._compact)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room there is."""
        super().resizeEvent(event)
        self._fit()

    @property
    def is_stale(self) -> bool:
        """Whether the view is too old to act on."""
        return self._age is None or self._age > STALE_AFTER

    def set_search_enabled(self, on: bool) -> None:
        """Show the search field; it stays hidden while nobody answers it."""
        self.search.setVisible(on)
        self._fit()

    def set_can_create(self, reason: str = "") -> None:
        """Allow New task, or disable it with `reason`, already translated."""
        if reason != self._refused:
            self._refused = reason
            self.create_button.disable(reason)

    def retranslate(self) -> None:
        self.setAccessibleName(_("Top bar"))
        self.search.setText(_("Search tasks, shops, commands"))
        self.search.setAccessibleName(self.search.text())
        self._tell_key()
        self._fresh.show_health(freshness(self._age, self._behind))
        self.profile.rename()

    def _tell_key(self) -> None:
        keys = shortcut_text("window.search")
        self.search.setToolTip(f"{self.search.text()}  ({keys})" if keys else self.search.text())
        self.search.update()

    def _on_profile(self) -> None:
        self.profile_requested.emit(self.profile.mapToGlobal(QPoint(0, self.profile.height() + 4)))

    def _on_pill(self, key: str, pill: HealthPill) -> None:
        self.health_requested.emit(key, pill.mapToGlobal(QPoint(0, pill.height() + 4)))
