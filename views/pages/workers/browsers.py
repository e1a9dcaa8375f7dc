"""The browsers of one worker: which shop each is for, what it does, and what a person has done to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from services.domain.fleet.worker import BrowserState
from services.domain.fleet.worker_order import RELEASE_PROFILE, RESTART_BROWSER
from services.domain.gates.session import ClosedSession
from services.domain.insight.worker import WorkerNow
from services.domain.task import classify
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.confirm import Question, confirm
from views.dialogs.shop_login import ShopLogin
from views.kit.verb import Place, Verb, Verbs, show
from views.pages.workers.nodes import NO_NAMES, Names
from views.support import instant, safe, shown, text
from views.support.look import Label
from views.support.operation import Operation
from views.tables.column import Column
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView
from views.theme.tokens import QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.card import Card
from views.widgets.flow_row import FlowRow
from views.widgets.toast import ToastSpec, failure

#: how long is waited for what a worker says of an order
OUTCOME_S = 40.0
TALL = 150
BUSY = ("busy", "lent")
#: no browser runs, but the profile lives here and somebody has to log in
NONE = "none"
_STATES: dict[str, tuple[str, str]] = {
    "starting": ("scheduled", N_("starting")),
    "busy": ("running", N_("at work")),
    "lent": ("running", N_("lent")),
    "idle": ("idle", N_("idle")),
    "closing": ("paused", N_("closing")),
    "window": ("login", N_("open for a person")),
    NONE: ("login", N_("needs login")),
}


class BrowserRow(msgspec.Struct, frozen=True, kw_only=True):
    """A browser, or the profile of a shop that waits for a person."""

    state: BrowserState
    names: Names = NO_NAMES
    session: ClosedSession | None = None  #: the shop has to be logged in first

    @property
    def key(self) -> str:
        """The shop, "" for the browser that light tasks share."""
        return self.state.shop

    @property
    def busy(self) -> bool:
        """Whether a task works in it."""
        return self.state.state in BUSY


def rows(
    one: WorkerNow | None, names: Names, sessions: Sequence[ClosedSession], homes: Mapping[str, str]
) -> tuple[BrowserRow, ...]:
    """The browsers of a worker, then the shops at home on its machine that wait for a login and have none."""
    if one is None or one.missing:
        return ()
    closed = {session.shop: session for session in sessions}
    at_work = {state.shop for state in one.info.pool if state.state in BUSY}
    found = [
        BrowserRow(state=state, names=names, session=closed.get(state.shop))
        for state in one.info.pool
        if state.state != "window" or state.shop not in at_work  # it opens once the task in the browser has ended
    ]
    known = {row.key for row in found}
    able = "browser" in one.info.executors or one.info.lends
    for shop, session in sorted(closed.items()):
        if able and shop not in known and homes.get(shop) == one.info.node != "":
            waits = BrowserState(shop=shop, state=NONE, since=session.since)
            found.append(BrowserRow(state=waits, names=names, session=session))
    return tuple(found)


def _glyph(row: BrowserRow) -> str:
    return "login" if row.session is not None else _STATES.get(row.state.state, ("unconfirmed", ""))[0]


def _words(row: BrowserRow) -> str:
    if row.session is not None and row.state.state not in ("window", *BUSY):
        return _("captcha") if row.session.kind == classify.CAPTCHA else _("needs login")
    known = _STATES.get(row.state.state)
    return _(known[1]) if known is not None else safe.one_line(row.state.state, 30)


def _shop(row: BrowserRow) -> str:
    return row.names.shop(row.key) if row.key else _("shared by light tasks")


def _span(row: BrowserRow) -> str:
    return text.duration(shown.span(max(0, instant.now_ms() - row.state.since))) if row.state.since else ""


def sentence(row: BrowserRow) -> str:
    """The row for a screen reader."""
    return text.listed(part for part in (_shop(row), _words(row), _span(row)) if part)


COLUMNS: tuple[Column[BrowserRow], ...] = (
    Column(key="glyph", title="", value=_glyph, kind="glyph", width=28, speech=sentence),
    Column(key="shop", title=N_("Shop"), value=_shop, kind="strong", names=True, width=110, stretch=True),
    Column(key="state", title=N_("State"), value=_words, width=112, tone=lambda row: _tone(row)),
    Column(key="for", title=N_("For"), value=lambda row: row.state.since, text=_span, width=84, live=True),
    Column(
        key="memory",
        title=N_("Memory"),
        value=lambda row: row.state.memory_mb,
        text=lambda row: text.join(text.count(round(row.state.memory_mb)), "MB") if row.state.memory_mb >= 0 else "",
        kind="number",
        width=80,
        hidden=True,
    ),
    Column(key="uses", title=N_("Uses"), value=lambda row: row.state.uses, kind="number", width=60, hidden=True),
    Column(key="port", title=N_("Port"), value=lambda row: row.state.port or "", kind="number", width=64, hidden=True),
    Column(
        key="profile",
        title=N_("Browser profile"),
        value=lambda row: row.state.profile,
        kind="mono",
        width=150,
        hidden=True,
    ),
)


def _tone(row: BrowserRow) -> str:
    return "login" if row.session is not None or row.state.state == "window" else "text2"


class OfBrowser(msgspec.Struct, frozen=True, kw_only=True):
    """A browser and the worker on whose machine it is."""

    row: BrowserRow
    worker: str


class BrowserActions(QObject):
    """Each order is audited; how it ended is told in a toast."""

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._waiting = Operation(self, lasting=True)
        self._login = ShopLogin(context, owner)

    def open(self, of: OfBrowser) -> None:
        """Open it for a person, and show it here."""
        self._login.open_on(of.row.key, of.worker)

    def restart(self, of: OfBrowser) -> None:
        """End it; asks first where a task works in it."""
        if of.row.busy:
            confirm(partial(_asked_to_restart, of), self._owner, partial(self._tell, of, RESTART_BROWSER))
        else:
            self._tell(of, RESTART_BROWSER)

    def release(self, of: OfBrowser) -> None:
        """Let nobody hold the profile; says before what is ended."""
        confirm(partial(_asked_to_release, of), self._owner, partial(self._tell, of, RELEASE_PROFILE))

    def _tell(self, of: OfBrowser, verb: str) -> None:
        context, order = self._context, f"{verb}={of.row.key}"

        def act() -> str | None:
            began = context.remote.now_ms()
            context.commands.fleet.tell_worker(of.worker, order)
            return context.remote.outcome(of.worker, order, began, OUTCOME_S)

        self._waiting.start(act, lambda error: self._ended(of, verb, error), lambda one: context.toast(failure(one)))

    def _ended(self, of: OfBrowser, verb: str, error: str | None) -> None:
        self._context.toast(_outcome(_shop(of.row), safe.one_line(of.worker, 60), verb, error))


def _asked_to_restart(of: OfBrowser) -> Question:
    return Question(
        title=N_("Restart a browser"),
        text=_(
            "A task works in the browser of {shop}. The browser is ended with it: that attempt counts as failed,"
            " and its retry starts a new browser with the same profile."
        ).format(shop=_shop(of.row)),
        verb=_("Restart with 1 task in it"),
        danger=True,
    )


def _asked_to_release(of: OfBrowser) -> Question:
    return Question(
        title=N_("Release a profile"),
        text=_(
            "Whatever holds the profile of {shop} on the machine of {worker} and does not work on a task is closed:"
            " an idle browser, a window that somebody forgot, a browser that was left over. Its cookies are kept."
        ).format(shop=_shop(of.row), worker=safe.one_line(of.worker, 60)),
        verb=_("Release the profile"),
    )


def _outcome(shop: str, worker: str, verb: str, error: str | None) -> ToastSpec:
    if error is None:
        said = _("{worker} has not said yet whether it obeyed.").format(worker=worker)
        return ToastSpec(text=said, status="warning")
    if error:
        said = _("The browser of {shop} could not be restarted") if verb == RESTART_BROWSER else _(
            "The profile of {shop} could not be released"
        )  # fmt: skip
        return ToastSpec(text=said.format(shop=shop), status="warning", detail=told(error))
    done = _("The browser of {shop} is ended; the next task starts a new one.")
    free = _("Nobody holds the profile of {shop} any more.")
    return ToastSpec(text=(done if verb == RESTART_BROWSER else free).format(shop=shop), status="healthy")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserVerb(Verb[OfBrowser]):
    """Something that a person has done to a browser."""

    do: Callable[[BrowserActions, OfBrowser], None]
    tip: str = ""  #: source text
    why: Callable[[OfBrowser], str] = lambda of: ""

    def why_not(self, chosen: OfBrowser) -> str:
        """The browser that light tasks share belongs to no shop."""
        return self.why(chosen) if chosen.row.key else _("It belongs to no shop")


VERBS: tuple[BrowserVerb, ...] = (
    BrowserVerb(
        key="open", text=N_("Open and show here"), icon="ph.browser", do=BrowserActions.open,
        tip=N_("Open this shop's browser there and see it here: to log in, to scan a code"),
        why=lambda of: _("A task works in it; wait for its end") if of.row.busy else "",
    ),
    BrowserVerb(
        key="restart", text=N_("Restart"), icon="ph.arrow-clockwise", do=BrowserActions.restart,
        tip=N_("End this browser; the next task of the shop starts a new one"),
        why=lambda of: _("No browser of it runs") if of.row.state.state in (NONE, "window") else "",
    ),
    BrowserVerb(
        key="release", text=N_("Release profile"), icon="ph.lock-simple-open", do=BrowserActions.release,
        tip=N_("Close whatever holds this profile without working on a task"),
        why=lambda of: _("A task works in it; restart it instead") if of.row.busy else "",
    ),
)  # fmt: skip


class BrowsersCard(Card):
    """The browsers of the worker that is chosen; hidden until any worker had one.

    Signals:
        changed: another one is chosen.
    """

    changed = Signal()

    def __init__(self, context: PageContext) -> None:
        super().__init__(N_("Browsers"), divided=True, padding=0)
        self._worker, self._forbidden = "", ""
        self._rows: dict[object, BrowserRow] = {}
        self.doing = BrowserActions(context, self)
        self.verbs: Verbs[BrowserVerb, OfBrowser] = Verbs(VERBS, self._run, lambda _role: self._forbidden)
        self._model: RecordModel[BrowserRow] = RecordModel(
            COLUMNS, key=lambda row: row.key, hold_new=False, local_sort=True, sentence=sentence
        )
        self.table = TableView(self._model, name=N_("Browsers"), ground="surface")
        self.table.setMinimumHeight(TALL)
        self.table.menu_requested.connect(self._fill_menu)
        self.table.open_requested.connect(lambda key: self._act("open", key))
        self.table.current_changed.connect(lambda _key: self._say())
        self.body.addWidget(self.table, 1)
        self.hint = Label("", "label", "text3", wrap=True)
        self.hint.setContentsMargins(12, 6, 12, 0)
        self.body.addWidget(self.hint)
        foot, bar = QVBoxLayout(), FlowRow(across=6, down=6)
        foot.setContentsMargins(12, 0, 12, 10)
        foot.addLayout(bar)
        self.buttons: dict[str, Button] = {}
        for verb in self.verbs.at(Place.BAR):
            self.buttons[verb.key] = Button(verb.text, icon=verb.icon, small=True, tip=verb.tip)
            self.buttons[verb.key].clicked.connect(lambda _checked=False, key=verb.key: self._act_current(key))
            bar.addWidget(self.buttons[verb.key])
        self.body.addLayout(foot)
        self.hide()

    def set_acting(self, reason: str) -> None:
        """Give no orders, for this reason; "" gives them again."""
        self._forbidden = reason
        self._say()

    def set_short(self, *, short: bool) -> None:
        """Take only the room that is needed, where it stands below the workers."""
        self.table.setMaximumHeight(TALL if short else QWIDGETSIZE_MAX)

    def show_browsers(self, worker: str, found: Sequence[BrowserRow], *, kept: bool = False) -> None:
        """Show those of a worker; ``kept``: it says so where there are none."""
        self._worker, self._rows = worker, {row.key: row for row in found}
        self.setVisible(bool(found) or kept)
        self.set_note(safe.one_line(worker, 40))
        self._model.apply(tuple(found))
        if found and self.table.current_key() is None:
            wanted = next((row for row in found if row.session is not None), found[0])
            self.table.set_current_key(wanted.key)
        self._say()

    def current(self) -> OfBrowser | None:
        """The one that is chosen."""
        row = self._rows.get(self.table.current_key())
        return OfBrowser(row=row, worker=self._worker) if row is not None else None

    def _say(self) -> None:
        of = self.current()
        for verb in self.verbs.at(Place.BAR):
            button = self.buttons[verb.key]
            if of is None:
                button.disable(_("Choose a browser"))
                continue
            offered = next(one for one in self.verbs.offers(Place.BAR, of) if one.verb.key == verb.key)
            show(button, offered)
        waiting = sum(1 for row in self._rows.values() if row.session is not None)
        words = ngettext("{n} shop waits for a login here.", "{n} shops wait for a login here.", waiting)
        none = _("No browser is open there.") if not self._rows else ""
        self.hint.setText(words.format(n=text.count(waiting)) if waiting else none)
        self.hint.setVisible(bool(waiting or none))
        self.changed.emit()

    def _fill_menu(self, menu: QMenu, key: object) -> None:
        row = self._rows.get(key)
        if row is not None:
            self.verbs.fill(menu, OfBrowser(row=row, worker=self._worker))
            port = str(row.state.port or "")
            copy = menu.addAction(_("Copy port"), lambda: QGuiApplication.clipboard().setText(port))
            copy.setEnabled(bool(port))

    def _act(self, key: str, shop: object) -> None:
        row = self._rows.get(shop)
        if row is not None:
            self.verbs.act(key, OfBrowser(row=row, worker=self._worker))

    def _act_current(self, key: str) -> None:
        if (of := self.current()) is not None:
            self.verbs.act(key, of)

    def _run(self, verb: BrowserVerb, of: OfBrowser) -> None:
        verb.do(self.doing, of)
