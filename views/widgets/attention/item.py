"""One item that needs a person: cause, sentence, age, its verbs, and a menu to copy or mute it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.support import safe
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import status
from views.widgets.buttons import LinkLabel
from views.widgets.flow_row import FlowRow

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionRow:
    """One item in the language of the moment."""

    key: str
    severity: str  #: name of a status
    title: str
    sentence: str = ""
    whole: str = ""  #: both with all names as they are, where they were shortened
    age: str = ""
    since_ms: int = 0
    verbs: tuple[tuple[str, str, str], ...] = ()  #: verb, what it is about, words of the link
    state: str = ""  #: differs once the matter changed
    end_open: bool = False  #: that it is over does not say that it went well: it is never called resolved


def widgets_in(layout: QLayout) -> list[QWidget]:
    found = [layout.itemAt(at) for at in range(layout.count())]
    return [widget for item in found if item is not None and (widget := item.widget()) is not None]


def _wrapped(kind: str, tone: str) -> Label:
    """A label that is as high as its words need at the width it gets."""
    label = Label("", kind, tone, wrap=True)
    policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


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
        self._glyph.setFixedWidth(16)
        self.title, self._age = _wrapped("strong", "text"), Label("", "label", "text3", tabular=True)
        self.sentence = _wrapped("label", "text2")
        self._links = FlowRow(across=14)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.title, 1)
        head.addWidget(self._age, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(3)
        words.addLayout(head)
        words.addWidget(self.sentence)
        words.addLayout(self._links)
        row_box = QHBoxLayout()
        row_box.setContentsMargins(12, 11, 12, 9)
        row_box.setSpacing(10)
        row_box.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        row_box.addLayout(words, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(row_box)
        outer.addWidget(line())
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

    def links(self) -> list[LinkLabel]:
        """The verbs."""
        return [widget for widget in widgets_in(self._links) if isinstance(widget, LinkLabel)]

    def show_row(self, row: AttentionRow, *, resolved: bool) -> None:
        """Show an item; links are made anew only when the verbs changed, so that the focus stays."""
        if (row, resolved) == (self._row, self._resolved):
            return
        verbs = self._row.verbs != row.verbs or self._resolved != resolved
        older = (replace(self._row, age=row.age), self._resolved) == (row, resolved)
        self._row, self._resolved = row, resolved
        if older:
            self._show_age()  # every second: the rest is neither filled in nor laid out again
        else:
            self._fill(links=verbs)

    def _fill(self, *, links: bool = True) -> None:
        row = self._row
        self.title.setText(safe.one_line(row.title, 160))
        self.title.set_tone("text3" if self._resolved else "text")
        self.sentence.setText(safe.one_line(row.sentence, 400))
        for label in (self.title, self.sentence):
            label.setToolTip(safe.tooltip(row.whole) if row.whole else "")
        self.sentence.setVisible(bool(row.sentence))
        if links:
            self._make_links()
        word = _(status(row.severity).word)
        # the age is ours and new every second: what is looked through for secrets is remembered without it
        said = safe.masked(f"{word}: {row.title}. {row.sentence}".strip())
        self._said = said
        self._restyle()

    def _show_age(self) -> None:
        age = _("resolved") if self._resolved else self._row.age
        self._age.setText(age)
        self._age.setFixedSize(self._age.sizeHint())  # else all would be laid out again for each second
        self.setAccessibleName(f"{self._said} {age}".strip())

    def _make_links(self) -> None:
        while (item := self._links.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for place, (verb, target, words) in enumerate(() if self._resolved else self._row.verbs):
            link = LinkLabel(filled=self._leads and not place)
            link.set_count_text(words)
            link.disable(self._reason if verb in CHANGING else "")
            link.activated.connect(_LinkClicked(self, verb, target))
            self._links.addWidget(link)

    def _restyle(self) -> None:
        token = status("healthy" if self._resolved else self._row.severity)
        self._glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        self._show_age()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the verbs, to copy and to mute."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for verb, target, words in () if self._resolved else self._row.verbs:
            action = menu.addAction(words, _LinkClicked(self, verb, target))
            action.setEnabled(not (self._reason and verb in CHANGING))
        menu.addAction(_("Copy text"), self.copy_text)
        menu.addSeparator()
        for span, words in () if self._resolved else SPANS:
            menu.addAction(_(words), _Muted(self, span))
        menu.popup(event.globalPos())

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
