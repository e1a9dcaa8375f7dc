"""One item that needs a person: cause, sentence, age, its verbs, and a menu to copy or mute it."""

from __future__ import annotations

from math import ceil

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.support import safe
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import QWIDGETSIZE_MAX, status
from views.widgets.buttons import LinkLabel
from views.widgets.flow_row import FlowRow, in_lines
from views.widgets.layout import in_column, in_row, put

#: verbs that change something; the others open a page
CHANGING = frozenset(
    {
        "pause",
        "resume",
        "open_session",
        "login_shop",
        "look_shop",
        "start_worker",
        "more_slots",
        "republish",
        "cancel_tasks",
        "stop_task",
        "lower_tasks",
    }
)
#: verbs that copy what the item says, to be sent to whoever can help; what they are about is that text
COPYING = frozenset({"copy_server", "copy_flow", "copy_creator"})
#: for how long an item can be muted: key, source text
SPANS = (
    ("hour", N_("Mute for 1 hour")),
    ("today", N_("Mute for today")),
    ("changed", N_("Mute until it changes")),
)


class AttentionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One item in the language of the moment."""

    key: str
    severity: str  #: name of a status
    title: str
    sentence: str = ""
    whole: str = ""  #: both with all names as they are, where they were shortened
    age: str = ""
    verbs: tuple[tuple[str, str, str], ...] = ()  #: verb, what it is about, words of the link
    state: str = ""  #: differs once the matter changed
    end_open: bool = False  #: that it is over does not say that it went well: it is never called resolved
    covers: str = ""  #: how the keys of those begin for which this one stands


def widgets_in(layout: QLayout) -> list[QWidget]:
    found = [layout.itemAt(at) for at in range(layout.count())]
    return [widget for item in found if item is not None and (widget := item.widget()) is not None]


class Density(msgspec.Struct, frozen=True, kw_only=True):
    """How much of an item is shown where there is little room for all of them."""

    title: int = 0  #: lines of it at most, 0 for all; what is left out is in the tool tip
    sentence: int = 0
    one_row: bool = False  #: verbs that have no room in one row are in a menu
    above: int = 11  #: px
    below: int = 7
    gap: int = 3  #: between what stands below each other


#: the first of them with which all items are seen is taken, else the last one
DENSITIES = (
    Density(),
    Density(title=2, sentence=2, above=8, below=4, gap=2),
    Density(title=2, sentence=1, one_row=True, above=7, below=3, gap=2),
    Density(title=1, sentence=1, one_row=True, above=5, below=1, gap=1),
)
LEFT, RIGHT, GLYPH, BESIDE, BEFORE_AGE, ACROSS, DOWN = 12, 12, 16, 10, 8, 14, 0


class _Wrapped(Label):
    """As high as its words need at the width it gets, or as so many lines of them."""

    def __init__(self, kind: str, tone: str) -> None:
        super().__init__("", kind, tone, wrap=True)
        self._most = 0
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_most(self, lines: int) -> None:
        """Show so many lines at most, 0 for all."""
        if lines != self._most:
            self._most = lines
            self.updateGeometry()
            self.update()

    def height_at(self, width: int, lines: int) -> int:
        """What so many lines need at a width."""
        whole = super().heightForWidth(width)
        return min(whole, self._cut(width, lines)[1]) if lines else whole

    def heightForWidth(self, width: int) -> int:
        """Return room for its lines."""
        return self.height_at(width, self._most)

    def _cut(self, width: int, lines: int) -> tuple[list[str], int]:
        """The lines, the last one with dots where there are more, and what they need."""
        metrics = QFontMetrics(self.font())
        layout, height = QTextLayout(self.text(), self.font(), self), 0.0
        signs = self.text().encode("utf-16-le", "surrogatepass")  # Qt counts two for a face, Python one
        found: list[str] = []
        layout.beginLayout()
        while len(found) < lines and (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, width))
            begin, end = 2 * line.textStart(), 2 * (line.textStart() + line.textLength())
            last = len(found) == lines - 1 and end < len(signs)
            part = (signs[begin:] if last else signs[begin:end]).decode("utf-16-le", "surrogatepass")
            found.append(metrics.elidedText(part, Qt.TextElideMode.ElideRight, width) if last else part.rstrip())
            height += max(line.height(), metrics.lineSpacing())
        layout.endLayout()
        return found, ceil(height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines that there is room for."""
        room = self.contentsRect()
        if not self._most or super().heightForWidth(room.width()) <= self.height_at(room.width(), self._most):
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        lines, _height = self._cut(room.width(), self._most)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop), "\n".join(lines))


class AttentionItem(QFrame):
    """One item.

    Signals:
        verb: a verb and what it is about.
        mute: the ``AttentionRow`` that shall not be shown, and for how long: a key of ``SPANS``.
    """

    verb = Signal(str, str)
    mute = Signal(object, str)

    def __init__(self, row: AttentionRow) -> None:
        super().__init__()
        self._row = row
        self._resolved, self._reason, self._leads = False, "", False
        self._said = ""  #: all but the age, for who listens
        self._glyph = QLabel()
        self._glyph.setFixedWidth(GLYPH)
        self.title, self._age = _Wrapped("strong", "text"), Label("", "label", "text3", tabular=True)
        self.sentence = _Wrapped("label", "text2")
        self._links = FlowRow(across=ACROSS, down=DOWN)
        self._density, self._width = DENSITIES[0], 0
        self.more_button = LinkLabel(N_("More"))
        self.more_button.activated.connect(self._on_more)
        self.more_button.hide()
        head = in_row((self.title, 1), (self._age, 0, Qt.AlignmentFlag.AlignTop), spacing=BEFORE_AGE)
        self._words = words = QVBoxLayout()
        words.setContentsMargins(0, 0, 0, 0)
        put(words, head, self.sentence, self._links)
        self._row_box = row_box = QHBoxLayout()
        row_box.setSpacing(BESIDE)
        row_box.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        row_box.addLayout(words, 1)
        self._space()
        in_column(row_box, line(), owner=self, spacing=0)
        theme().changed.connect(self._restyle)
        self._fill()

    @property
    def row(self) -> AttentionRow:
        """What is shown."""
        return self._row

    @property
    def resolved(self) -> bool:
        """Whether it is over."""
        return self._resolved

    def set_acting(self, reason: str) -> None:
        """Disable the verbs that change something, with a reason; "" enables them again."""
        if reason != self._reason:
            self._reason = reason
            self._make_links()

    def set_leading(self, leads: bool) -> None:
        """Be the one to look at first, whose first verb is filled, or not any more."""
        if leads != self._leads:
            self._leads = leads
            self._make_links()

    def hold(self, held: bool) -> None:
        """Take no less room than now while that is so: its verbs stay where they are, and what stands below it."""
        for part in (self, self.title, self.sentence):
            part.setMinimumHeight(part.height() if held and part.isVisible() else 0)  # a new one has none yet

    def stops(self) -> list[QWidget]:
        """What the tab key goes through."""
        return [*self.links(), self.more_button]

    @property
    def needs(self) -> object:
        """What its height follows from, but for letters and width."""
        return self._said, self._row.verbs, self._resolved, self._leads, self._age.sizeHint().width()

    def height_at(self, width: int, density: Density) -> int:
        """What it needs at a width."""
        inner = width - LEFT - GLYPH - BESIDE - RIGHT
        age = self._age.sizeHint()
        head = max(age.height(), self.title.height_at(inner - BEFORE_AGE - age.width(), density.title))
        parts = [head]
        if self._has_sentence():
            parts.append(self.sentence.height_at(inner, density.sentence))
        rows = self._rows(inner)
        if rows:
            rows = rows[:1] if density.one_row else rows
            parts.append(sum(max(link.sizeHint().height() for link in row) for row in rows) + DOWN * (len(rows) - 1))
        return density.above + sum(parts) + density.gap * (len(parts) - 1) + density.below + 1

    def set_density(self, density: Density, width: int) -> None:
        """Show so much of it."""
        if (density, width) != (self._density, self._width):
            changed = density != self._density
            self._density, self._width = density, width
            if changed:
                self._space()
                self._show_tip()
            self._show_links()

    def _space(self) -> None:
        density = self._density
        self._row_box.setContentsMargins(LEFT, density.above, RIGHT, density.below)
        self._words.setSpacing(density.gap)
        self.title.set_most(density.title)
        self.sentence.set_most(density.sentence)

    def _rows(self, width: int) -> list[list[LinkLabel]]:
        """The verbs in as many rows as they need."""
        links = self.links()
        lines = in_lines([link.sizeHint().width() for link in links], width, ACROSS)
        return [[links[place] for place in line] for line in lines]

    def _show_links(self) -> None:
        """Hide the verbs for which there is no room, behind a button that has them all."""
        links = self.links()
        kept, room = links, self._width - LEFT - GLYPH - BESIDE - RIGHT
        for link in links:
            link.setMaximumWidth(QWIDGETSIZE_MAX)
        if self._density.one_row and len(self._rows(room)) > 1:
            room -= ACROSS + self.more_button.sizeHint().width()
            kept = self._rows(room)[0]
            kept[0].setMaximumWidth(max(1, room))
        for link in links:
            link.setVisible(link in kept)
        self.more_button.setVisible(len(kept) < len(links))

    def links(self) -> list[LinkLabel]:
        """The verbs."""
        found = [widget for widget in widgets_in(self._links) if isinstance(widget, LinkLabel)]
        return [link for link in found if link is not self.more_button]

    def show_row(self, row: AttentionRow, *, resolved: bool) -> bool:
        """Show an item; links are made anew only when the verbs changed, so that the focus stays. Whether it says more
        than another age as wide as the last.
        """
        if (row, resolved) == (self._row, self._resolved):
            return False
        verbs = self._row.verbs != row.verbs or self._resolved != resolved
        older = (replace(self._row, age=row.age), self._resolved) == (row, resolved)
        self._row, self._resolved = row, resolved
        if older:
            return self._show_age()  # every second: the rest is neither filled in nor laid out again
        self._fill(links=verbs)
        return True

    def _fill(self, *, links: bool = True) -> None:
        row = self._row
        self.title.setText(safe.one_line(row.title, 160))
        self.title.set_tone("text3" if self._resolved else "text")
        self.sentence.setText(safe.one_line(row.sentence, 400))
        self._show_tip()
        self.sentence.setVisible(self._has_sentence())
        if links:
            self._make_links()
        word = _(status(row.severity).word)
        # the age is ours and new every second: what is looked through for secrets is remembered without it
        said = safe.masked(f"{word}: {row.title}. {row.sentence if self._has_sentence() else ''}".strip())
        self._said = said
        self._restyle()

    def _has_sentence(self) -> bool:
        """What it told is of before once it is over: "3 tasks waiting for it" stood below a tick."""
        return bool(self._row.sentence) and not self._resolved

    def _show_tip(self) -> None:
        whole = self._row.whole
        if not whole and self._density.sentence:
            whole = f"{self._row.title}\n{self._row.sentence}".strip()
        for label in (self.title, self.sentence):
            label.setToolTip(safe.tooltip(whole) if whole else "")

    def _show_age(self) -> bool:
        """Whether it takes other room now."""
        age = _("resolved") if self._resolved else self._row.age
        self._age.setText(age)
        self.setAccessibleName(f"{self._said} {age}".strip())
        room = self._age.sizeHint()
        if room == self._age.minimumSize():
            return False
        self._age.setFixedSize(room)  # else all would be laid out again for each second
        return True

    def _make_links(self) -> None:
        while (item := self._links.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self.more_button:
                widget.deleteLater()
        for place, (verb, target, words) in enumerate(() if self._resolved else self._row.verbs):
            link = LinkLabel(filled=self._leads and not place)
            link.set_count_text(words)
            link.disable(self._reason if verb in CHANGING else "")
            link.activated.connect(_LinkClicked(self, verb, target))
            self._links.addWidget(link)
        self._links.addWidget(self.more_button)
        self._show_links()

    def _restyle(self) -> None:
        token = status("healthy" if self._resolved else self._row.severity)
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        self._show_age()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the verbs, to copy and to mute."""
        self._open_menu(event.globalPos())

    def _on_more(self) -> None:
        self._open_menu(self.more_button.mapToGlobal(QPoint(0, self.more_button.height())))

    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for verb, target, words in () if self._resolved else self._row.verbs:
            action = menu.addAction(words, _LinkClicked(self, verb, target))
            action.setEnabled(not (self._reason and verb in CHANGING))
        menu.addAction(_("Copy text"), self.copy_text)
        menu.addSeparator()
        for span, words in () if self._resolved else SPANS:
            menu.addAction(_(words), _Muted(self, span))
        menu.popup(place)

    def copy_text(self) -> None:
        """Put the item on the clipboard."""
        QGuiApplication.clipboard().setText(self.told())

    def told(self) -> str:
        """Title and sentence with secrets as dots."""
        return safe.masked(self._row.whole or f"{self._row.title}\n{self._row.sentence}".strip())


class _LinkClicked:
    """One link; a lambda in a loop would name the last verb."""

    def __init__(self, item: AttentionItem, verb: str, target: str) -> None:
        self._item, self._verb, self._target = item, verb, target

    def __call__(self) -> None:
        self._item.verb.emit(self._verb, self._item.told() if self._verb in COPYING else self._target)


class _Muted:
    """One entry of the menu."""

    def __init__(self, item: AttentionItem, span: str) -> None:
        self._item, self._span = item, span

    def __call__(self) -> None:
        self._item.mute.emit(self._item.row, self._span)
