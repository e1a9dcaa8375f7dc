"""Logging a shop in from the window: its browser here, or on which machine and how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.domain.fleet.remote import WINDOW_MS, Window
from services.domain.fleet.worker_order import CLOSE_WINDOW, OPEN_WINDOW, RELOAD_WINDOW
from services.i18n import N_, _
from services.messages import told
from services.monitor.remote import opener
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, confirm
from views.dialogs.frame import DialogFrame
from views.support import instant, safe, shown, text
from views.support.language import say_in_language
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.widgets.buttons import Button
from views.widgets.elided import Elided
from views.widgets.layout import in_column, in_row, put
from views.widgets.status_pill import StatusPill
from views.widgets.strip import Strip
from views.widgets.toast import ToastSpec, failure, lasting

SIZE, LEAST = (1000, 680), (560, 420)
LOOK_MS = 1_000
#: a worker that has not begun after so long is not there
PATIENCE_MS = 30_000
#: a look that is older tells nothing of the page any more: its worker looks every few seconds
STALE_MS = 15_000
WAITING, OPEN, OVER = "waiting", "open", "over"


class Found(NamedTuple):
    """What is known of a shop whose browser is to open."""

    name: str
    waits: bool  #: its tasks wait for a login
    node: str = ""  #: on which its profile lives, "" for this one
    worker: str = ""  #: one there that can open its browser


Opener = Callable[[str, Found], None]


class ShopLogin(QObject):
    """Signals:
    changed: a shop was logged in, or could not be; ask again.
    """

    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._asking, self._acting = Operation(self), Operation(self)
        self._browsing = Operation(self, lasting=True)

    def begin(self, shop: str) -> None:
        """Open the browser of a shop (``platform:shop_id``) for a login where its profile lives here, else say where it
        does.
        """
        self._open(shop, self._log_in, self._tell_where)

    def look(self, shop: str) -> None:
        """Open the browser of a shop so that a person sees whether something was done there, else say where it is."""
        self._open(shop, self._show, self._tell_where_to_look)

    def go_on(self, shop: str) -> None:
        """Somebody has logged a shop in by other means: its tasks go on."""
        self._acting.start(partial(_go_on, self._context, shop), partial(self._ended, logged_in=True), self._fail)

    def open_on(self, shop: str, worker: str) -> None:
        """Open the browser of a shop on the machine of a worker, and show it here."""
        self._asking.start(
            partial(_look, self._context, shop), lambda found: self._open_there(shop, found, worker), self._fail
        )

    def _open(self, shop: str, here: Opener, elsewhere: Opener) -> None:
        """``elsewhere``: for a profile on another machine, where no worker can open it."""

        def go(found: Found) -> None:
            if found.node and found.worker:
                self._open_there(shop, found, found.worker)
            else:
                (elsewhere if found.node else here)(shop, found)

        self._asking.start(partial(_look, self._context, shop), go, self._fail)

    def _open_there(self, shop: str, found: Found, worker: str) -> None:
        dialog = ShopWindowDialog(self._context, shop, found.name, worker, self._owner)
        dialog.logged_in.connect(partial(self._ended, found, logged_in=True))
        dialog.finished.connect(lambda _code: self.changed.emit())
        dialog.open()

    def _log_in(self, shop: str, found: Found) -> None:
        said = N_("The browser of {shop} opens: log in there, then close its window.")
        self._context.toast(_about(found.name, said, "running"))
        call = partial(_log_in, self._context, shop)
        self._browsing.start(call, lambda end: self._ended(found, logged_in=end[0], wanted=end[1]), self._fail)

    def _show(self, shop: str, found: Found) -> None:
        said = N_("The browser of {shop} opens: look whether it was done, then close its window and decide.")
        self._context.toast(_about(found.name, said, "running"))
        call = partial(self._context.logins.log_in, shop)
        self._browsing.start(call, lambda seen: self._seen(found.name, logged_in=seen), self._fail)

    def _seen(self, name: str, *, logged_in: bool) -> None:
        if not logged_in:
            said = N_("{what} asked for a login, or its browser was closed at once: nothing was seen there.")
            self._context.toast(_about(name, said, "warning"))
        self.changed.emit()

    def _tell_where(self, shop: str, found: Found) -> None:
        if not found.waits:
            said = N_(
                "The browser profile of this shop lives on another machine, where no worker with browsers is alive;"
                " its tasks use the login of that profile alone. Start a worker there, or run the command there."
            )
            self._name_command(shop, found, N_("Log in on another machine"), said)
            return

        def question() -> Question:
            return Question(
                title=N_("Log in on another machine"),
                rows=_command_rows(shop, found),
                text=_(
                    "The browser profile of this shop lives on another machine, where no worker with browsers is"
                    " alive; a login here would not help its tasks. Start a worker there, or run the command there."
                ),
                verb=_("Logged in elsewhere: go on"),
                other=_("Copy the command"),
            )

        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(partial(self.go_on, shop))
        dialog.other_chosen.connect(partial(_copy_command, shop))
        dialog.open()

    def _tell_where_to_look(self, shop: str, found: Found) -> None:
        said = N_(
            "The browser profile of this shop lives on another machine. Open this shop's browser in the window of"
            " Fleetdeck there, or run the command there; any other browser that is logged in shows it too."
        )
        self._name_command(shop, found, N_("Look on another machine"), said)

    def _name_command(self, shop: str, found: Found, title: str, said: str) -> None:
        """Name the machine and the command to run there; ``title`` and ``said`` are source texts."""

        def question() -> Question:
            return Question(title=title, rows=_command_rows(shop, found), text=_(said), verb=_("Copy the command"))

        confirm(question, self._owner, partial(_copy_command, shop))

    def _ended(self, found: Found, *, logged_in: bool, wanted: bool = True) -> None:
        over = logged_in or (found.waits and not wanted)
        if logged_in:
            said = N_("{what} is logged in; its tasks go on.") if found.waits else N_("{what} is logged in.")
        elif over:
            said = N_("Nobody has to log {what} in any more; its tasks go on.")
        else:
            said = (
                N_("{what} is not logged in yet; its tasks wait.")
                if found.waits
                else N_("{what} is not logged in yet.")
            )
        closed = N_("The browser was closed on a page that asks for a login, or before any page was seen.")
        self._context.toast(_about(found.name, said, "healthy" if over else "warning", "" if over else closed))
        self.changed.emit()

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))
        self.changed.emit()


def _about(name: str, said: str, status: str, detail: str = "") -> ToastSpec:
    """A message about a shop; ``said`` and ``detail`` are source texts."""

    def say() -> ToastSpec:
        more = _(detail) if detail else ""
        return ToastSpec(text=_(said).format(shop=name, what=name), status=status, detail=more)

    return lasting(say)


def _look(context: PageContext, shop: str) -> Found:
    node = context.logins.elsewhere(shop)
    worker = opener(context.feed.latest.workers, shop, node, context.remote.now_ms()) if node else ""
    return Found(_name(context, shop), _waits(context, shop), node, worker)


def _waits(context: PageContext, shop: str) -> bool:
    return any(one.session is not None for one in context.tasks.shops_now([shop]).values())


def _log_in(context: PageContext, shop: str) -> tuple[bool, bool]:
    """Whether the shop was logged in here, and whether it still has to be: while its browser was open, somebody else
    may have done it.
    """
    done = context.logins.log_in(shop)
    return done, not done and _waits(context, shop)


def _go_on(context: PageContext, shop: str) -> Found:
    waited = context.commands.sessions.open(shop)
    return Found(_name(context, shop), waited)


def _command_rows(shop: str, found: Found) -> tuple[tuple[str, str], ...]:
    return (_("shop"), found.name), (_("machine"), found.node), (_("command there"), _command(shop))


def _command(shop: str) -> str:
    return f"shop login {shop}"


def _copy_command(shop: str) -> None:
    QGuiApplication.clipboard().setText(_command(shop))


def _name(context: PageContext, shop: str) -> str:
    found = context.shops().get(shop)
    return safe.one_line(found.name if found is not None and found.name else shop, 80)


class _Look(msgspec.Struct, frozen=True, eq=False):
    window: Window | None
    picture: QImage | None  #: None: the one of before still stands
    answer: str | None


class ShopWindowDialog(DialogFrame):
    """Opens the browser when it is opened itself, and closes it with itself.

    Signals:
        logged_in: the shop is logged in; its tasks go on.
        looked: another look has come.
    """

    logged_in = Signal()
    looked = Signal()

    def __init__(self, context: PageContext, shop: str, name: str, worker: str, parent: QWidget | None = None) -> None:
        """``worker``: on whose machine."""
        super().__init__(N_("Browser of a shop"), icon="ph.browser", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._shop, self._name, self._worker = context, shop, name, worker
        self.state = WAITING
        self._began, self._problem = 0, ""
        self._refused = ""  #: why the last act here was not done; the next look does not take it away
        self._recording = False
        self._window: Window | None = None
        self._asking, self._acting = Operation(self, latest=True), Operation(self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._build()
        self.set_note(text.listed((safe.one_line(name, 40), safe.one_line(worker, 60))))
        say_in_language(self._say)
        self._acting.start(self._open, self._on_opened, self._fail)

    def _build(self) -> None:
        self.pill, self.address = StatusPill("scheduled", framed=True), Elided("", "label", "text2", middle=True)
        self._age = Label("", "label", "text3")
        self.problem = Strip("warning")
        head = in_column(
            in_row(self.pill, (self.address, 1), self._age, margins=(16, 10, 16, 8), spacing=10), self.problem
        )
        self.picture = Picture()
        self.fill(head, self.picture, size=SIZE, least=LEAST)
        self.reload_button = Button(
            N_("Load again"), icon="ph.arrow-clockwise", tip=N_("Load the page anew, for a code that has run out")
        )
        self.close_button = Button(N_("Close the browser"), hint="Esc")
        self.done_button = Button(N_("Done, go on"), kind="primary", icon="ph.check")
        self.reload_button.clicked.connect(partial(self._tell, RELOAD_WINDOW))
        self.close_button.clicked.connect(self.reject)
        self.done_button.clicked.connect(self._on_done)
        self.hint = Label("", "label", "text3", wrap=True)
        put(self.foot, self.reload_button, (self.hint, 1), self.close_button, self.done_button)

    # asking

    def _open(self) -> int:
        remote = self._context.remote
        began, found = remote.now_ms(), remote.window(self._shop)
        if found is None or found.worker != self._worker:
            self._context.commands.fleet.tell_worker(self._worker, f"{OPEN_WINDOW}={self._shop}")
        if self.state == OVER:  # closed before it was asked for: the worker may have been told in the other order
            self._context.commands.fleet.tell_worker(self._worker, f"{CLOSE_WINDOW}={self._shop}")
        return began

    def _on_opened(self, began: int) -> None:
        self._began = began
        self._timer.start()
        self._look()

    def _look(self) -> None:
        if self._asking.busy:  # a store that is slow is not asked by all threads of the window
            return
        before = self._window.picture if self._window is not None else b""
        self._asking.start(partial(self._ask, before), self._take, self._stumble)

    def _ask(self, before: bytes) -> _Look:
        remote = self._context.remote
        window = remote.window(self._shop)
        fresh = window is not None and window.picture and window.picture != before
        picture = QImage.fromData(window.picture) if window is not None and fresh else None
        answer = remote.answer(self._worker, f"{OPEN_WINDOW}={self._shop}", self._began) if self._began else None
        return _Look(window, picture, answer)

    def _take(self, look: _Look) -> None:
        if self.state == OVER:
            return
        self._problem = ""
        if look.answer is not None:  # it has ended there
            self._end(told(look.answer) if look.answer else "")
            return
        if look.window is not None:
            self.state, self._window = OPEN, look.window
        elif self.state == OPEN or instant.now_ms() - self._began > PATIENCE_MS:
            late = _("{worker} has not opened it: is it alive, and does it take orders?").format(
                worker=safe.one_line(self._worker, 60)
            )
            self._end(self._silence() if self.state == OPEN else late)
            return
        if look.picture is not None:
            self.picture.show_image(look.picture)
        self._say()
        self.looked.emit()

    def _silence(self) -> str:
        """What to say where nothing new is told of an open browser, "" where it is."""
        if self._window is None or instant.now_ms() - self._window.at <= STALE_MS:
            return ""
        said = _("Nothing is heard of {worker} any more: nobody knows what its browser shows, or whether it is open.")
        return said.format(worker=safe.one_line(self._worker, 60))

    def _end(self, problem: str) -> None:
        self.state, self._problem = OVER, problem
        self._timer.stop()
        self.picture.show_image(QImage())
        self._say()
        self.looked.emit()

    def _stumble(self, error: BaseException) -> None:
        self._problem = told(error)
        self._say()

    def _fail(self, error: BaseException) -> None:
        self._end(told(error))

    # acting

    def _tell(self, verb: str) -> None:
        self._refused = ""
        call = partial(self._context.commands.fleet.tell_worker, self._worker, f"{verb}={self._shop}")
        self._acting.start(call, None, self._on_refused)

    def _on_done(self) -> None:
        self._recording, self._refused = True, ""
        self._say()
        self._acting.start(self._go_on, lambda _none: self._on_gone_on(), self._on_refused)

    def _go_on(self) -> None:
        commands = self._context.commands
        info = next((one for one in self._context.feed.latest.workers if one.worker == self._worker), None)
        commands.sessions.login(self._shop, lambda: True, node=info.node if info is not None else "")
        if self.state != OVER:
            commands.fleet.tell_worker(self._worker, f"{CLOSE_WINDOW}={self._shop}")

    def _on_gone_on(self) -> None:
        self.state = OVER
        self.logged_in.emit()
        self.accept()

    def _on_refused(self, error: BaseException) -> None:
        self._recording, self._refused = False, told(error)
        self._say()

    def done(self, result: int) -> None:
        """Close the browser there too: while it is open no task of the shop runs."""
        self._timer.stop()
        if self.state != OVER:
            self.state = OVER
            self._tell(CLOSE_WINDOW)  # it is told although nobody waits for the answer any more
        super().done(result)

    # words

    def _say(self) -> None:
        window = self._window if self.state == OPEN else None
        asks = window is not None and bool(window.url) and not window.logged_in
        silence = self._silence() if window is not None else ""
        left = self._left_logged_in()
        if self.state == OVER:
            closed = text.listed((_("closed"), _("asks for nothing"))) if left else _("closed")
            self.pill.set_status("unconfirmed", closed)
        elif window is None or not window.url:
            self.pill.set_status("scheduled", _("opening"))
        elif silence:
            self.pill.set_status("unconfirmed", _("no signal"))
        elif asks:
            self.pill.set_status("login", _("asks for a login or shows a captcha"))
        else:
            self.pill.set_status("healthy", _("asks for nothing"))
        self.address.show_text(safe.one_line(window.url, 200) if window is not None else "")
        age = text.age(shown.span(max(0, instant.now_ms() - window.at))) if window is not None else ""
        self._age.setText(_("seen {age}").format(age=age) if age else "")
        self.problem.show_text(self._refused or self._problem or silence)
        self.picture.show_words(self._waiting_words())
        self.hint.setText("" if silence else self._hint(window))
        over = "" if window is not None else _("It is not open")
        self.close_button.set_source(N_("Close") if self.state == OVER else N_("Close the browser"))
        self.reload_button.disable(over)
        self.done_button.disable(("" if left else over) or (_("It is being recorded") if self._recording else ""))
        self.done_button.set_kind("plain" if asks else "primary")

    def _left_logged_in(self) -> bool:
        """Whether somebody at that machine closed it on a page that asks for nothing, as who logs in there does."""
        window = self._window if self.state == OVER and not self._problem else None
        return window is not None and bool(window.url) and window.logged_in

    def _waiting_words(self) -> str:
        if self.state == OVER:
            return _("The browser is closed.")
        if self.state == WAITING:
            return _("{worker} opens the browser of {shop} at its next heartbeat.").format(
                worker=safe.one_line(self._worker, 60), shop=safe.one_line(self._name, 60)
            )
        return _("No picture of the page yet.")

    def _hint(self, window: Window | None) -> str:
        if window is None:
            return ""
        left = text.duration(shown.span(max(0, window.opened + WINDOW_MS - instant.now_ms())))
        ends = _("No task of the shop runs meanwhile; it closes by itself in {span}.").format(span=left)
        return text.sentences([_("Somebody at that machine sees it too."), ends]) if window.visible else ends


class Picture(QWidget):
    """A picture as large as there is room, never larger than it is; words while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image, self._words = QImage(), ""
        self.setMinimumSize(200, 160)

    @property
    def image(self) -> QImage:
        """What is shown."""
        return self._image

    def show_image(self, image: QImage) -> None:
        """Show another one; a null image shows the words."""
        self._image = image
        self.update()

    def show_words(self, words: str) -> None:
        """What stands there while there is no picture, already translated."""
        self._words = words
        self.setAccessibleName(words if self._image.isNull() else _("Picture of the page"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(900, 520)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        if self._image.isNull():
            painter.setFont(theme().font("body"))
            painter.setPen(theme().color("text2"))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(self.rect().adjusted(24, 0, -24, 0), flags, self._words)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        size = self._image.size()
        if size.width() > self.width() or size.height() > self.height():
            size = size.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        painter.drawImage(QRectF(left, top, size.width(), size.height()), self._image)
