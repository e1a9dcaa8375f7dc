"""One message at the bottom right: glyph, sentence, up to two verbs, a close button."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget

from services.i18n import N_, _
from services.messages import told
from views.support import safe
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import act_number, taking_back, written
from views.theme import theme
from views.theme.tokens import RADIUS_CARD, status
from views.widgets.buttons import Button, IconButton
from views.widgets.layout import in_column, in_row

WIDTH = 380


class ToastAction(msgspec.Struct, frozen=True, kw_only=True):
    """A verb of a toast: an already translated text and what it does."""

    text: str
    call: Callable[[], None]
    source: str = ""  #: of the text, by which it follows the language in a toast that stands
    #: whether the key that takes back presses it, too
    keyed: Callable[[], bool] = lambda: False
    act: int = 0  #: number of the act that it takes back, see ``act_number``


class ToastSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to say; texts are already translated. Errors stay until closed, unless they leave."""

    text: str
    status: str = "healthy"
    detail: str = ""  #: second line, in captions
    actions: tuple[ToastAction, ...] = ()
    seconds: float = 6.0
    sticky: bool = False
    #: by itself, however bad it is, for it stands where a person finds it, too; its time begins in a window in front
    leaves: bool = False
    copy: str = ""  #: details for the clipboard; shows "Copy details"
    key: str = ""  #: a later toast with the same key replaces this one
    update: bool = False  #: only changes the words of the toast with this key; nothing where a person closed that

    again: Callable[[], ToastSpec] | None = None  #: says it anew in another language; its verbs stay those they were

    @property
    def stays(self) -> bool:
        """Whether only a person closes it."""
        return self.sticky or (self.status in ("dead", "error") and not self.leaves)


def undo_action(call: Callable[[], None], keyed: Callable[[], bool] = lambda: True, act: int = 0) -> ToastAction:
    """The verb that takes back what the toast tells of; ``act``: its number, unless it was made just now, or by the
    run whose answer is being delivered. What that wrote in the audit is what ``call`` takes back.
    """
    entries = written()

    def back() -> None:
        with taking_back(entries):
            call()

    return replace(action(N_("Undo"), back), keyed=keyed, act=act or act_number())


def action(source: str, call: Callable[[], None]) -> ToastAction:
    """A verb that follows the language; ``source`` is source text."""
    return ToastAction(text=_(source), call=call, source=source)


def lasting(say: Callable[[], ToastSpec]) -> ToastSpec:
    """A message that stands long enough to outlive a change of the language."""
    return replace(say(), again=say)


def failure(
    error: BaseException,
    lead: str = N_("That did not work."),
    *,
    key: str = "",
    again: Callable[[], None] | None = None,
) -> ToastSpec:
    """An error with its details for the clipboard; `lead` is source text, ``again`` asks for the same once more."""

    def say() -> ToastSpec:
        actions = (ToastAction(text=_("Ask again"), call=again),) if again is not None else ()
        # whoever helps is told by the system's own words, with the number and the path
        details = "\n".join([told(error), str(error)]) if isinstance(error, OSError) else told(error)
        return ToastSpec(text=_(lead), detail=told(error), status="error", copy=details, key=key, actions=actions)

    return lasting(say)


class Toast(QWidget):
    """A message that leaves by itself, unless it is an error or the mouse or the keyboard is on it.

    Signals:
        closed: it is over.
        said: other words stand in it; it may need another room.
    """

    closed = Signal()
    said = Signal()

    def __init__(self, spec: ToastSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.setFixedWidth(WIDTH)
        self._glyph = QLabel()
        self._text, self._detail = Label("", "strong", wrap=True), Label("", "label", "text2", wrap=True)
        self._timer = QTimer(self, singleShot=True, interval=int(spec.seconds * 1000))
        self._timer.timeout.connect(self.close_now)
        self._buttons: list[Button] = []
        self._set_up()
        on_language_changed(self.retranslate)
        theme().changed.connect(self._restyle)
        self._restyle()
        self._begin()

    def _set_up(self) -> None:
        row = in_row((self._glyph, 0, Qt.AlignmentFlag.AlignTop), owner=self, margins=(14, 10, 8, 10), spacing=10)
        words = in_column(self._text, self._detail, spacing=3)
        self._show_words()
        verbs = self._verbs()
        if verbs.count():
            words.addLayout(verbs)
        row.addLayout(words, 1)
        close = IconButton("ph.x", N_("Close"))
        close.clicked.connect(self.close_now)
        for button in (
            *self._buttons,
            close,
        ):  # a click must not carry off the focus of the page: it leaves with the toast
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

    def change_words(self, spec: ToastSpec) -> None:
        """Say something else in place: nothing moves under the mouse."""
        self.spec = replace(self.spec, text=spec.text, detail=spec.detail)
        self._show_words()

    def retranslate(self) -> None:
        """Say it in the language of the moment, as far as it is known how."""
        spec = self.spec.again() if self.spec.again is not None else self.spec
        for button, one in zip(self._buttons, spec.actions, strict=False):
            button.set_count_text(_(one.source) if one.source else one.text)
        self.change_words(spec)
        self.said.emit()

    def _show_words(self) -> None:
        self._text.setText(safe.visible(self.spec.text))
        self._detail.setText(safe.one_line(self.spec.detail, 300))
        self._detail.setVisible(bool(self.spec.detail))
        self.setAccessibleName(f"{self.spec.text} {self.spec.detail}".strip())

    def _verbs(self) -> QHBoxLayout:
        verbs = in_row(spacing=14)
        for one in self.spec.actions:
            button = Button(kind="link")
            button.set_count_text(one.text)
            button.clicked.connect(one.call)
            button.clicked.connect(self.close_now)
            self._buttons.append(button)
            verbs.addWidget(button)
        if self.spec.copy:
            copy = Button(N_("Copy details"), kind="link")
            copy.clicked.connect(self._copy)
            self._buttons.append(copy)
            verbs.addWidget(copy)
        if verbs.count():
            verbs.addStretch(1)
        return verbs

    def offered(self) -> int:
        """Number of the act that the key would take back; 0: it offers none."""
        return max((action.act for action in self.spec.actions if action.keyed()), default=0)

    def take_back(self) -> bool:
        """Press the verb that takes back, by the keyboard; False where there is none."""
        found = next((action for action in self.spec.actions if action.keyed()), None)
        if found is None:
            return False
        found.call()
        self.close_now()
        return True

    def close_now(self) -> None:
        """Leave."""
        self._timer.stop()
        self.closed.emit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.spec.copy)

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().status_pixmap(status(self.spec.status), 18))
        self.update()

    def has_keyboard(self) -> bool:
        """Whether one of its verbs has the focus."""
        at_it: QWidget | None = QApplication.focusWidget()
        return at_it is not None and self.isAncestorOf(at_it)

    def focus_moved(self) -> None:
        """Wait while the keyboard is on it."""
        if self.has_keyboard():
            self._timer.stop()
        elif not self._timer.isActive() and not self.underMouse():
            self._begin()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Wait while the mouse is on it."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: object) -> None:
        """Go on when the mouse has left."""
        self._begin()

    def event(self, event: QEvent) -> bool:
        """Begin to wait once somebody is there to read it."""
        if event.type() == QEvent.Type.WindowActivate and self.spec.leaves and not self.underMouse():
            self._begin()
        return super().event(event)

    def _begin(self) -> None:
        """Let its time begin, unless it stays or nobody may have seen it yet, or somebody is at it."""
        if not self.has_keyboard() and not self.spec.stays and (self.isActiveWindow() or not self.spec.leaves):
            self._timer.start()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground, edge and the coloured side."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(status(self.spec.status).role))
        painter.drawRoundedRect(QRectF(0, 8, 3, self.height() - 16), 1.5, 1.5)
