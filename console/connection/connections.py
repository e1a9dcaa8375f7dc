"""The connections of this computer as the window shows them, and what a person does with them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Protocol

import msgspec
from PySide6.QtCore import QObject, QPoint, Signal
from shiboken6 import isValid

from console.main_window import MainWindow, in_front
from services import assembly
from services import settings as config
from services.domain.errors import ConsoleError, OperatorError
from services.domain.fleet import environment
from services.i18n import N_, _
from services.messages import told
from services.profiles import known, passwords
from services.profiles.book import Book, SavedProfile
from services.profiles.known import titled
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.connection import ConnectionDialog
from views.shell.connection_menu import ConnectionMenu
from views.support.connections import Connection
from views.support.keymap import CONNECTION, MOST_CONNECTIONS
from views.support.keys import Shortcut
from views.support.language import on_language_changed
from views.widgets.toast import ToastSpec, failure


class Off(Protocol):
    """Runs a blocking call elsewhere."""

    def __call__(self, call: Callable[..., Any], *args: object) -> Awaitable[Any]: ...


def shown(one: known.Known, *, opened: bool = False) -> Connection:
    """One connection in words."""
    fixed = {
        known.OWN: _("It belongs to Fleetdeck and is always there"),
        known.CONFIG: _("It stands in config.toml; change it there"),
        known.WORDS: _("It was named on the command line"),
        known.GONE: _("It was removed or renamed in another window; here it stays open"),
    }
    address = _("everything on this machine") if one.local else f"{one.broker} · {one.redis}"
    origins = {known.CONFIG: "config.toml", known.WORDS: _("command line"), known.GONE: _("no longer kept")}
    return Connection(
        name=one.name,
        title=titled(one.name, local=one.local),
        tag=environment.tag(one.environment),
        production=environment.is_production(one.environment),
        local=one.local,
        read_only=one.read_only,
        address=address,
        places=(address,) if one.local else tuple(place for place in (one.broker, one.redis) if place),
        origin=origins.get(one.origin, ""),
        fixed=fixed.get(one.origin, ""),
        opened=opened,
    )


class ConnectionSwitch(QObject):
    """Lives as long as the console; ``bind`` gives it the window of the moment.

    Signals:
        changed: the list is another one.
        wanted: the name of a connection to open.
        beside: the name of a connection to open in a program of its own.
        edited: the name that it has now: of the one that is open.
        renamed: the name before, and the one now, "" where it was removed.
    """

    changed = Signal()
    wanted = Signal(str)
    beside = Signal(str)
    edited = Signal(str)
    renamed = Signal(str, str)

    def __init__(self, settings: config.Settings, off: Off) -> None:
        """``settings``: those that the program was started with."""
        super().__init__()
        self._start, self._off = settings, off
        self._book = Book(settings.home_path)
        self._known: tuple[known.Known, ...] = ()
        self._kept: set[str] = set()  #: names that files have, or had
        self._opened: config.Settings | None = None
        self._named: config.Settings | None = None  #: of the command line alone, to which a person may want to go back
        self._window: MainWindow | None = None
        self._doing: set[asyncio.Future[Any]] = set()
        self.menu: ConnectionMenu | None = None
        self.dialog: ConnectionDialog | None = None
        self.question: ConfirmDialog | None = None
        on_language_changed(self._on_language)  # a method, which is forgotten with the list

    def bind(self, window: MainWindow, opened: config.Settings | None) -> None:
        """Serve this window from now on; ``opened``: what it shows, open or not."""
        self._opened = opened
        self.stand_on(window)
        self.serve(window)
        self._do(self.reload())

    def stand_on(self, window: MainWindow) -> None:
        """Show dialogs on this window, one of those that are served."""
        self._window = window

    # ``views.support.connections.Connections``

    def rows(self) -> tuple[Connection, ...]:
        """All, in the order of their keys."""
        name = self._opened.profile if self._opened is not None else ""
        return tuple(shown(one, opened=one.name == name) for one in self._known)

    def choose(self, name: str) -> None:
        """Open another one."""
        if self._opened is None or name != self._opened.profile:
            self.wanted.emit(name)

    def open_beside(self, name: str) -> None:
        """Open one in a window of its own, beside this one."""
        self.beside.emit(name)

    def serve(self, window: MainWindow) -> None:
        """Let one more window of what is open show the list, and choose from it."""
        window.top_bar.profile_requested.connect(self.show_menu)
        for number in range(1, MOST_CONNECTIONS + 1):
            Shortcut(f"{CONNECTION}.{number}", window, partial(self._choose_at, number - 1))

    def add(self) -> None:
        """Ask for a new one."""
        self._ask(None)

    def edit(self, name: str) -> None:
        """Show one to be changed; its passwords are fetched first."""
        self._do(self._edit(name))

    def correct(self, settings: config.Settings) -> None:
        """Show the one that does not open, to be put right. What stands in config.toml or on the command line is not
        this window's to write: there it is a copy, which is opened once it is saved.
        """
        self._do(self._correct(settings))

    def correct_opened(self) -> None:
        """Show the one that is open, to be put right: its server refuses it."""
        if self._opened is not None:
            self.correct(self._opened)

    def remove(self, name: str) -> None:
        """Strike one off once its name was typed."""
        row = next((one for one in self.rows() if one.name == name), None)
        if row is None or row.fixed or row.opened or self._window is None:
            return

        def question() -> Question:
            stays = (
                _("Its engine's file stays on this computer.") if row.local else _("The fleet itself stays as it is.")
            )
            forgets = _("This window forgets the connection and its passwords.")
            return Question(
                title=N_("Remove connection"),
                text=f"{forgets} {stays}",
                rows=((_("Name"), name), (_("Environment"), row.tag or _("None")), (_("Address"), row.address)),
                verb=_("Remove {name}").format(name=name),
                danger=True,
                typed=name,
            )

        self.question = ConfirmDialog(question, self._here())
        self.question.confirmed.connect(lambda: self._do(self._remove(name)))
        self.question.open()

    # the list

    def look_again(self) -> None:
        """Take what another program of this home has made of the list."""
        self._do(self.reload(again=True))

    async def reload(self, *, again: bool = False) -> None:
        """Read the list again. ``again``: nothing else has changed, so that the same list is no news."""
        found = await self._off(self._read)
        if again and found == self._known:
            return
        self._known = found
        stands = {one.name: one.origin for one in self._known}
        if self._named is None and stands.get(self._start.profile) == known.WORDS:
            self._named = self._start
        self.changed.emit()

    def _read(self) -> tuple[known.Known, ...]:
        held = [one for one in (self._opened, self._named) if one is not None]
        found = known.known(base(self._start), *held)
        self._kept |= {one.name for one in found if one.origin != known.WORDS}
        return tuple(
            msgspec.structs.replace(one, origin=known.GONE)
            if one.origin == known.WORDS and one.name in self._kept
            else one
            for one in found
        )

    def title(self, name: str) -> str:
        """What a connection is called on the screen."""
        return next((row.title for row in self.rows() if row.name == name), name)

    def connection(self, settings: config.Settings, *, leads: bool = True) -> Connection:
        """What these settings lead to, in words; ``leads``: whether they do, else only its name may be known."""
        row = next((one for one in self._known if one.name == settings.profile), None)
        if row is None and not leads:
            return Connection(name=settings.profile, title=settings.profile)
        return shown(row or known.of(settings, known.WORDS), opened=False)

    def show_menu(self, corner: QPoint) -> None:
        """Show the list at a global position."""
        self.menu = ConnectionMenu(self, self._here())
        self.menu.show_below(corner)

    def _on_language(self) -> None:
        self.changed.emit()

    def _choose_at(self, place: int) -> None:
        if place < len(self._known):
            self.choose(self._known[place].name)

    # adding, editing, removing

    async def _edit(self, name: str) -> None:
        profile = await self._off(self._book.find, name)
        if profile is not None:
            self._ask(profile)

    async def _correct(self, settings: config.Settings) -> None:
        profile = await self._off(self._book.find, settings.profile)
        if profile is not None:
            self._ask(profile)
            return
        taken = {one.name for one in self._known} | {settings.profile}
        names = (f"{settings.profile}-{number}" for number in itertools.count(2))
        name = next(one for one in names if one not in taken)
        copy = SavedProfile(
            name=name, environment=settings.environment, broker=settings.broker.url, redis=settings.store.url,
            management=settings.broker.management_url, read_only=bool(settings.read_only),
        )  # fmt: skip
        self._ask(copy, is_copy=True)

    def _ask(self, profile: SavedProfile | None, *, is_copy: bool = False) -> None:
        if self._window is None:
            return
        others = [one.name for one in self._known if is_copy or profile is None or one.name != profile.name]
        dialog = ConnectionDialog(profile, others, self._here())
        dialog.finished.connect(dialog.deleteLater)
        dialog.test_wanted.connect(lambda draft: self._do(self._test(dialog, draft)))
        before = profile.name if profile is not None and not is_copy else ""
        dialog.saved.connect(lambda draft: self._do(self._save(draft, before, opens=is_copy)))
        self.dialog = dialog
        dialog.open()
        self._do(self._tell_key_store(dialog))

    async def _tell_key_store(self, dialog: ConnectionDialog) -> None:
        """To ask it takes a while."""
        name, plain = await self._off(passwords.key_store)
        if isValid(dialog):
            dialog.show_key_store(keeps=bool(name) and not plain)

    async def _test(self, dialog: ConnectionDialog, draft: SavedProfile) -> None:
        try:
            answers = await self._off(assembly.probe, drafted(self._start, draft))
        except OperatorError as exc:
            field = {"broker.management_url": "management", "store.url": "redis"}.get(exc.field, "broker")
            if isValid(dialog):  # it may have been left meanwhile
                dialog.show_problem(field, told(exc), draft)
            return
        if isValid(dialog):
            dialog.show_test(answers, draft)

    async def _save(self, draft: SavedProfile, before: str, *, opens: bool = False) -> None:
        try:
            durable = await self._off(lambda: self._book.put(draft, instead_of=before))
        except OSError as exc:
            self._tell(failure(exc, N_("The connection is not kept.")))
            return
        await self.reload()
        if not durable:
            words = _("This computer has no key store that encrypts: enter the password again at the next start.")
            self._tell(ToastSpec(text=words, status="warning"))
        if before and before != draft.name:
            self.renamed.emit(before, draft.name)
        if before and self._opened is not None and self._opened.profile == before:
            self.edited.emit(draft.name)
        elif not before:
            self._tell(ToastSpec(text=_("{name} is added.").format(name=draft.name), status="succeeded"))
        if opens:
            self.choose(draft.name)

    async def _remove(self, name: str) -> None:
        try:
            await self._off(self._book.remove, name)
        except OSError as exc:
            self._tell(failure(exc))
            return
        await self.reload()
        self.renamed.emit(name, "")
        self._tell(ToastSpec(text=_("{name} is removed.").format(name=name), status="succeeded"))

    def _here(self) -> MainWindow | None:
        """The window that a person is in: there may be several of what is open."""
        return in_front() or self._window

    def _tell(self, spec: ToastSpec) -> None:
        window = self._here()
        if window is not None:
            window.toasts.show(spec)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        doing = asyncio.ensure_future(work)
        self._doing.add(doing)
        doing.add_done_callback(self._doing.discard)


def base(settings: config.Settings) -> config.Settings:
    """The settings of this home for no profile in particular; as they are where config.toml cannot be read now."""
    try:
        return config.load(home=settings.home_path)
    except ConsoleError:
        return settings


def drafted(settings: config.Settings, draft: SavedProfile) -> config.Settings:
    """Settings that lead to a connection that nobody has saved yet."""
    broker = config.BrokerSettings(
        url=draft.broker, management_url=draft.management, profile=draft.broker_profile or settings.broker.profile
    )
    return msgspec.structs.replace(
        settings, profile=draft.name or "fleet", broker=broker, store=config.StoreSettings(url=draft.redis)
    )
