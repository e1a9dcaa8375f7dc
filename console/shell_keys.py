"""Palette, key help and the keys that go to pages: what the window adds to its pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from console.main_window import MainWindow
from console.palette import WINDOW_COMMANDS, PaletteFinder, connection_entries, look_entries
from console.paper import Paper
from services import messages
from services.domain.errors import UsageError
from services.domain.text import view_link
from services.domain.text.said import said
from services.i18n import _
from views.context import PageContext
from views.page import asked_by
from views.shell.key_help import KeyHelp
from views.shell.palette import Palette
from views.shell.palette_rows import Entry
from views.support import safe, text
from views.support.connections import Connections
from views.support.keymap import GO, keymap
from views.support.keys import Shortcut, list_keys
from views.widgets.buttons import shortcut_text
from views.widgets.toast import ToastAction, ToastSpec, lasting


class ShellKeys(QObject):
    """Binds them to a window.

    Signals:
        another_wanted: one more window, on what is seen in this one.
        quit_wanted: the end of the program, with all its windows.
    """

    another_wanted = Signal()
    quit_wanted = Signal()

    def __init__(
        self,
        window: MainWindow,
        context: PageContext,
        connections: Connections | None = None,
        looks: Mapping[str, Callable[..., object]] | None = None,
    ) -> None:
        """``looks``: who shows and keeps how everything looks, by the names of ``console.palette.LOOKS``."""
        super().__init__(window)
        self._window, self._context, self._connections = window, context, connections
        self._help: KeyHelp | None = None
        self.paper = Paper(window, context)
        self._finder = PaletteFinder(
            window, context, self._commands, self.ask_of_work, partial(look_entries, looks or {}), connections
        )
        self.palette = Palette(self._finder, window)
        self._finder.found.connect(self.palette.show_later)
        self._finder.known.connect(self.palette.find_again)
        self.palette.asked.connect(self._finder.refresh)
        window.top_bar.search_requested.connect(self.palette.ask)
        window.top_bar.set_search_enabled(True)
        keymap().know_pages([(one.id, one.title, one.letter) for one in window.specs])
        window.link_wanted.connect(self.copy_link)
        for spec in (one for one in window.specs if one.letter):
            Shortcut(f"{GO}.{spec.id}", window, partial(window.open_page, spec.id))
        for name, slot in (
            ("window.settings", partial(window.open_page, "settings")),
            ("window.work", self.ask_of_work),
            ("window.past", self.look_back),
            ("window.handover", self.hand_over),
            ("window.save", self.paper.ask),
            ("window.print", self.paper.print_out),
            ("window.another", self.another_wanted.emit),
            ("window.quit", self.quit_wanted.emit),
            ("window.link", self.copy_link),
            ("window.keys", self.show_help),
            ("window.help", self.show_page_help),
            ("window.guide", self.show_guide),
        ):
            Shortcut(name, window, slot)
        Shortcut("tables.menu", window, _open_menu)
        list_keys()

    def show_help(self) -> None:
        """Show all keys, in the language of the moment."""
        if self._help is None or not isValid(self._help):
            self._help = KeyHelp(self._window)
            self._help.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._help.open()

    def tell_displaced(self) -> None:
        """Say which keys that a person chose belong to something else since this version."""
        gone = keymap().take_displaced()
        if not gone:
            return
        from views.dialogs.keys import row_of, taken

        def say() -> ToastSpec:
            one = gone[0]
            words = _("{key} no longer does: {command}").format(
                key=shortcut_text(one.keys), command=row_of(one.command).words
            )
            if len(gone) > 1:
                words = _("{n} keys that you chose do something else now").format(n=text.count(len(gone)))
            return ToastSpec(
                text=words,
                detail=" ".join(taken(one.keys, one.rival) for one in gone),
                status="warning",
                sticky=True,
                actions=(ToastAction(text=_("Keys…"), call=self._change_keys),),
            )

        self._window.toasts.show(lasting(say))

    def _change_keys(self) -> None:
        from views.dialogs.keys import open_keys

        open_keys(self._window)

    def copy_link(self) -> None:
        """Put a link to what is seen into the clipboard."""
        page_id = self._window.current
        page = self._window.page(page_id) if page_id else None
        shown, then = (page.shown_request(), page.then) if page is not None else ("", None)
        if len(shown) > view_link.MOST:
            self._context.toast(ToastSpec(text=messages.told(said("link.long", most=view_link.MOST)), status="warning"))
            return
        link = view_link.ViewLink(self._context.profile, page_id, shown)
        if then is not None:
            link = replace(link, at=then.at_ms, now=None if then.now is None else str(then.now))
        QGuiApplication.clipboard().setText(str(link))
        self._context.toast(ToastSpec(text=_("A link to this view is in the clipboard")))

    def follow(self, link: str) -> None:
        """Open what a link shows, or say why it leads nowhere."""
        try:
            found = view_link.read(link)
        except UsageError as exc:
            self._warn(messages.told(exc))
            return
        if all(spec.id != found.page for spec in self._window.specs):
            self._warn(messages.told(said("link.page", page=found.page)))
        elif found.profile.casefold() not in ("", self._context.profile.casefold()):
            name = safe.one_line(found.profile, 60)
            self._warn(_("The link is for the connection {name}; open that one first").format(name=name))
        else:
            self._window.open_page(found.page, asked_by(found))

    def _warn(self, words: str) -> None:
        self._window.toasts.show(ToastSpec(text=text.first_up(words), status="warning"))

    def ask_of_work(self, shop: str = "", task_type: str = "") -> None:
        """Ask whether something ran, of a shop (its key), a type (or a part of its name) and a day; without a shop of
        what is chosen on the page.
        """
        # read when it is first asked for: the window opens sooner
        from views.dialogs.work.dialog import Asked, WorkDialog

        if not shop and self._window.current:
            shop, task_type = self._window.page(self._window.current).pointed()
        dialog = WorkDialog(self._context, Asked(shop=shop, task_type=task_type), self.barred, self._window)
        dialog.wanted.connect(self._window.open_page)
        dialog.open()

    def look_back(self) -> None:
        """Show what the fleet was at a moment, and what changed around it."""
        self._window.open_page("past")

    def hand_over(self) -> None:
        """Show what who takes over must know."""
        from views.dialogs.handover import HandoverDialog

        dialog = HandoverDialog(self._context, self._window)
        dialog.wanted.connect(self._window.open_page)
        dialog.open()

    def show_page_help(self) -> None:
        """Show what the guide says of the page that is seen."""
        page = self._window.page(self._window.current) if self._window.current else None
        self.show_guide(page.title if page is not None else "")

    def show_guide(self, about: str = "") -> None:
        """Show the operator's guide in the language of the moment, from its beginning or about a page of this title."""
        from views.dialogs.guide import GuideDialog

        dialog = GuideDialog(self._window, about=about)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def barred(self) -> str:
        """Why nothing can be created now, "" when it can."""
        button = self._window.top_bar.create_button
        return "" if button.isEnabled() else button.toolTip()

    def _commands(self) -> Sequence[Entry]:
        calls: dict[str, Callable[[], object]] = {
            "window.new": self._window.top_bar.create_button.click,
            "window.work": self.ask_of_work,
            "window.past": self.look_back,
            "window.handover": self.hand_over,
            "window.another": self.another_wanted.emit,
            "window.quit": self.quit_wanted.emit,
            "window.save": self.paper.ask,
            "window.print": self.paper.print_out,
            "window.refresh": self._window.refresh,
            "window.freeze": self._window.toggle_freeze,
            "window.rail": self._window.rail.toggle,
            "window.link": self.copy_link,
            "window.help": self.show_page_help,
            "window.keys": self.show_help,
            "window.guide": self.show_guide,
        }
        words = {"window.freeze": _("Unfreeze view")} if self._window.frozen else {}
        reasons = {"window.new": self._window.top_bar.create_button.toolTip()}
        if self._window.top_bar.create_button.isEnabled():
            reasons = {}
        found = [
            Entry(
                key=key,
                kind="command",
                words=words.get(key, _(source)),
                icon=icon,
                keys=key,
                reason=reasons.get(key, ""),
                run=calls[key],
            )
            for key, source, icon in WINDOW_COMMANDS
        ]
        return found if self._connections is None else [*found, self._switch(self._connections)]

    def _switch(self, connections: Connections) -> Entry:
        """Another connection, or one that is not there yet."""

        def then() -> list[Entry]:
            add = Entry(
                key="connection.add", kind="command", words=_("Add connection…"), icon="ph.plus", run=connections.add
            )
            return [*connection_entries(connections), add]

        return Entry(
            key="window.connection",
            kind="command",
            words=_("Switch connection"),
            note=_("choose a connection next"),
            icon="ph.globe-hemisphere-east",
            then=then,
        )


def _open_menu() -> None:
    """Open the menu of what has the focus: of the two keys for that Qt knows only Menu where the screen is X11."""
    widget = QApplication.focusWidget()
    if widget is not None:
        middle = widget.rect().center()
        asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, widget.mapToGlobal(middle))
        QApplication.sendEvent(widget, asked)
