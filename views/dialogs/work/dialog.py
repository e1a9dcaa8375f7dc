"""Did it run? Shops, types and a day are typed in one line; each work that is meant has one answer, whichever task did
the work, and beside them stands all of the one that is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QWidget

from services.domain.fleet.shop import Shop
from services.domain.text import shell
from services.domain.types import strict_json
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.messages import told
from services.monitor.live import Changes, Snapshot
from services.monitor.works import WorkStory
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.dialogs.work import asking, words
from views.dialogs.work.again import AgainBar, Meant
from views.dialogs.work.answer import AnswerPane, Told, look
from views.dialogs.work.asking import TODAY, YESTERDAY, Asked, Directory, Understood
from views.dialogs.work.works import WorkList, WorkRow
from views.support import instant, safe, shown, text
from views.support.instant import ticks
from views.support.keys import pressed
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.offers import offer
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.support.words import type_names
from views.theme import theme
from views.theme.tokens import platform_badge, status
from views.widgets.buttons import Button, IconButton
from views.widgets.elided import Elided
from views.widgets.empty_state import EmptyState
from views.widgets.layout import STRETCH, in_column, in_row, put, stacked

__all__ = ["Asked", "WorkDialog"]

SIZE, LEAST = (1280, 888), (560, 380)
LIST_WIDTH, LIST_NARROW, NARROW, LOW = 310, 220, 960, 680
TYPING_MS, LOOK_MS, LIST_MS = 200, 2000, 8000
#: the chosen work is asked of as soon as something of it is heard; else this often, and where something of it waits for
#: what others do
REST_MS, WAITS_MS = 15_000, 6_000
#: works that are listed, and those that are asked for to find them
LISTED, MOST_ASKED = 24, 48
#: entries of the menu of a chip, and days before today that are offered
OFFERED, DAYS_BACK = 14, 6
#: ways out that show a page
LEAVING = frozenset({"open_task", "decide"})

_ANYTHING = Asked()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a line of words means, and the answer of each work."""

    understood: Understood
    stories: tuple[WorkStory, ...] = ()
    left: int = 0  #: shops that are meant and not asked for
    bare: tuple[str, ...] = ()  #: shops of which nothing is known
    unsure: frozenset[str] = frozenset()  #: shops for which works may have run of which nothing is kept


class WorkDialog(DialogFrame):
    """Open it with ``open()``. It follows the fleet while it is open.

    Signals:
        wanted: a page, and what it shall show there.
        listed: other works stand there.
        answered: another answer stands there.
    """

    wanted = Signal(str, object)
    listed = Signal()
    answered = Signal()

    def __init__(
        self,
        context: PageContext,
        asked: Asked = _ANYTHING,
        barred: Callable[[], str] = str,
        parent: QWidget | None = None,
    ) -> None:
        """``barred``: why nothing can be created, "" when it can; asked again with each answer."""
        super().__init__(N_("Did it run?"), icon="ph.clock-counter-clockwise", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._barred = context, barred
        self._known: Directory | None = None  # None: what there is to choose from was not read yet
        self._found: Found | None = None
        self._error: BaseException | None = None  # why nothing newer is known
        self._problem = ""
        self._made = False  # something was created that the answer does not show yet
        self._news = True  # something was heard since it was asked of
        self._heard: tuple[object, ...] = ()  # what was heard last of what holds any work
        self._since = QElapsedTimer()
        self._since.start()
        self._shown: tuple[object, ...] = ()  # what the answer that stands there was asked with
        self._reading, self._listing = Operation(self), Operation(self, latest=True)
        self._asking = Operation(self, latest=True)
        self._soon = Debounce(self._ask_list, TYPING_MS, self)
        self._again = QTimer(self, interval=LOOK_MS)
        self._again.timeout.connect(self._look_again)
        self._list_again = QTimer(self, interval=LIST_MS)
        self._list_again.timeout.connect(self._list_once_more)
        self._build()
        self.field.setText(asked.words)
        self._connect()
        self._again.start()
        self._list_again.start()
        self._read_choices()
        self._say()

    # putting together

    def _build(self) -> None:
        self.field = _Field()
        self.field.setMinimumWidth(180)
        self.add_to_head(self.field, 20)
        self.shop_chip, self.type_chip, self.day_chip = (Button(small=True) for _place in range(3))
        for chip, fill in (
            (self.shop_chip, self._fill_shops),
            (self.type_chip, self._fill_types),
            (self.day_chip, self._fill_days),
        ):
            menu = QMenu(chip)
            menu.aboutToShow.connect(partial(fill, menu))
            chip.set_menu(menu)
        self.understood, self.number = Label("", "label", "text3"), Elided("", "label", "text2")
        self.payload = QLineEdit()
        self.payload.setFixedWidth(210)
        self._state_glyph, self.state = QLabel(), Elided("", "label", "text2")
        chips = in_row(
            self.understood,
            self.shop_chip,
            self.type_chip,
            self.day_chip,
            self.payload,
            self.number,
            STRETCH,
            self._state_glyph,
            self.state,
            margins=(18, 7, 18, 7),
            spacing=8,
        )
        top = in_column(chips, line(), spacing=0)
        self.works, self.answer = WorkList(), AnswerPane(self._context, self._barred)
        self.again = AgainBar(self._context, self.parentWidget())
        self.nothing = EmptyState(N_("Ask of a shop and a task type"), "", icon="ph.magnifying-glass")
        self._stack = stacked(self.nothing, self.answer)
        middle = in_row(self.works, line("v"), (self._stack, 1), spacing=0)
        self.fill(top, middle, self.again, self._build_hints(), size=SIZE, least=LEAST)
        self.copy_button = Button(N_("Copy answer"), icon="ph.copy", hint="tables.copy")
        self.shop_button = Button(N_("Open shop"), icon="ph.storefront", shortcut="work.shop")
        self.tasks_button = Button(N_("Show its tasks"), icon="ph.list-bullets", shortcut="work.tasks")
        self.create_button = Button(N_("Run it now…"), icon="ph.arrow-clockwise", shortcut="work.again")
        for key in self.create_button.findChildren(QShortcut):
            key.setAutoRepeat(False)  # held down it would create, and then ask for something new
        self.open_button = Button(N_("Open task"), kind="primary", icon="ph.arrow-square-out", hint="Return")
        for button in (self.copy_button, self.shop_button, self.tasks_button):
            self.foot.addWidget(button)
        put(self.foot, STRETCH, self.create_button, self.open_button)
        self.setTabOrder(self.field, self.answer.strip)

    def _build_hints(self) -> QWidget:
        self.hints, self.command = Elided("", "label", "text3"), Elided("", "monosmall", "text2", middle=True)
        self.command_copy = IconButton(
            "ph.copy", N_("Copy the command for the Command Prompt (cmd)") if shell.WINDOWS else N_("Copy the command")
        )
        self.command_copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.command_line()))
        row = in_row((self.hints, 1), (self.command, 1), self.command_copy, margins=(18, 2, 12, 2), spacing=10)
        self.command.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._hints_row = QWidget()
        in_column(line(), row, owner=self._hints_row, spacing=0)
        return self._hints_row

    def _connect(self) -> None:
        self.field.textChanged.connect(lambda _text: self._soon())
        self.field.stepped.connect(lambda down: self.works.step(down))
        self.field.returnPressed.connect(self._open_task)
        self.field.copied.connect(self._copy)
        self.payload.textChanged.connect(lambda _text: self._on_payload())
        self.works.chosen.connect(lambda _shop, _type: self._on_work())
        self.works.opened.connect(self._open_task)
        self.answer.wanted.connect(self._go)
        self.answer.day_wanted.connect(self._on_day)
        self.answer.way_wanted.connect(self._on_way)
        self.again.made.connect(self._on_made)
        self.again.unknown.connect(self._fill_in)
        self.again.closed.connect(self.field.setFocus)
        self.again.left.connect(self.accept)
        self.again.changed.connect(self._say_buttons)
        self.finished.connect(self.again.look_away)
        self.answer.strip.chosen.connect(lambda _run: self._say_buttons())
        self.copy_button.clicked.connect(self._copy)
        self.shop_button.clicked.connect(self._on_shop)
        self.tasks_button.clicked.connect(self._on_tasks)
        self.create_button.clicked.connect(self._on_create)
        self.open_button.clicked.connect(self._open_task)
        theme().changed.connect(self._say)
        on_language_changed(self._say)
        ticks().tell(self, self._on_tick)
        self._context.feed.changed.connect(self._on_changes)
        self._context.feed.looked.connect(self._on_looked)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with what is typed."""
        super().showEvent(event)
        self.field.setFocus()
        self.field.selectAll()  # another one is typed over what the page had chosen

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the answer room where there is little."""
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        self.works.setFixedWidth(LIST_NARROW if narrow else LIST_WIDTH)
        self.hints.setVisible(not narrow)
        self.understood.setVisible(not narrow)
        self.number.setVisible(not narrow)
        self._hints_row.setVisible(self.height() >= LOW)

    # asking

    @property
    def known(self) -> bool:
        """Whether it is known what there is to ask of."""
        return self._known is not None

    @property
    def day(self) -> str:
        """The day that is meant: ``today``, ``yesterday`` or a date."""
        return self._found.understood.day if self._found is not None else TODAY

    def command_line(self) -> str:
        """What asks the same in a terminal, "" while nothing is chosen."""
        shop, kind = self.works.current()
        if not kind:
            return ""
        payload, profile = self._payload(), self._context.profile
        words = ["fleetdeck", "work", shop, kind, "--day", self.day]
        words += ["--payload", msgspec.json.encode(payload).decode()] if payload is not None else []
        words += ["--profile", profile] if profile not in ("", "local") else []
        return shell.line(words)

    def _read(self) -> Directory:
        shops = dict(self._context.shops())
        for now in self._context.limits.states.look():  # also those of which only tasks tell
            platform, _colon, shop_id = now.key.partition(":")
            shops.setdefault(now.key, Shop(platform=platform, shop_id=shop_id))
        return asking.directory(shops, self._context.types())

    def _read_choices(self) -> None:
        self._reading.start(self._read, self._take, self._on_failed)

    def _take(self, known: Directory) -> None:
        self._known, self._error = known, None
        self._say()
        self._ask_list()

    def _ask_list(self) -> None:
        if self._known is None:
            return
        typed = self.field.text().strip()
        call = partial(_look_for, self._context, typed, self._known)
        self._listing.start(call, partial(self._show_list, typed), self._on_failed)

    def _show_list(self, typed: str, found: Found) -> None:
        if typed != self.field.text().strip():
            return
        other = self._found is None or found.understood != self._found.understood
        self._found, self._error = found, None
        self.works.show_rows(_rows(found, self._known or Directory()))
        if other:
            self._on_work()
        self._say()
        self.listed.emit()

    def _list_once_more(self) -> None:
        over = self.day != TODAY  # of a day that is over little changes, and much of it is read
        if self.isVisible() and not self._listing.awaited and self._found is not None and not over:
            self._ask_list()

    def _on_payload(self) -> None:
        self._drop_other()
        self._say()
        if not self._problem:
            self._ask()

    def _payload(self) -> Mapping[str, Any] | None:
        typed, self._problem = self.payload.text().strip(), ""
        if not typed or not self._by_payload():
            return None
        try:
            found = strict_json.loads(typed)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        self._problem = _("This is no JSON object")
        return None

    def _by_payload(self) -> bool:
        """Whether the parameters tell one work of the type from another."""
        _shop, name = self.works.current()
        types = self._known.types if self._known is not None else {}
        kind = types.get(name) or TaskType.default(name)
        return bool(name) and kind.uniqueness == "shop_type_payload"

    def _on_work(self) -> None:
        _shop, kind = self.works.current()
        self._drop_other()
        if kind and self._found is not None:
            self._ask()
        self._say()

    def _drop_other(self) -> None:
        """Let no answer to another question stand there."""
        if self.answer.told is not None and self._shown != self._question():
            self.answer.clear()
            self.again.look_away()

    def _question(self) -> tuple[object, ...]:
        return (*self.works.current(), self.day, self._payload(), self._problem)

    def _ask(self) -> None:
        shop, kind = self.works.current()
        payload = self._payload()
        if not kind or self._problem:
            return
        self._news = False
        self._since.start()
        call = partial(look, self._context, shop, kind, self.day, payload)
        self._asking.start(call, partial(self._show, (shop, kind, self.day, payload)), self._on_failed)

    def _look_again(self) -> None:
        """Something may have happened, and what failed may work by now."""
        if not self.isVisible():
            return
        if self._known is None and not self._reading.busy:
            self._read_choices()
        elif self._found is None and not self._listing.awaited:
            self._ask_list()
        elif not self._asking.awaited:
            rested = self._since.hasExpired(WAITS_MS if self.answer.waits else REST_MS)
            if self._news or self._made or self._error is not None or rested or self.answer.told is None:
                self._ask()
            else:
                self.answer.follow()

    def _on_changes(self, changes: Changes) -> None:
        shop, kind = self.works.current()
        mine = any(f"{one.platform}:{one.shop_id}" == shop and one.task_type == kind for one in changes.events)
        self._news = self._news or changes.gap or mine

    def _on_looked(self, snapshot: Snapshot) -> None:
        heard = (snapshot.pauses, snapshot.sessions, snapshot.store.connected)
        self._news, self._heard = self._news or heard != self._heard, heard

    def _show(self, asked: tuple[object, ...], told: Told | None) -> None:
        if told is None or asked != (*self.works.current(), self.day, self._payload()):
            return
        self._error, self._shown, self._made = None, self._question(), False
        self.answer.show_told(told, self._shop_name(told.story.shop))
        self._stack.setCurrentIndex(1)
        self._say()
        self.answered.emit()

    def _on_failed(self, error: BaseException) -> None:
        """Keep what was known; it is asked again before long."""
        self._error = error
        self.answer.mark_stale()
        self._say()

    # acting

    def _on_create(self) -> None:
        """The same work in place, where that is known and nobody has to look first; else all of it is filled in."""
        told_, task_id = self.answer.told, self.answer.task_id
        how = words.way_again(told_.story, instant.now_ms()) if told_ is not None and task_id else words.FILL_IN
        if told_ is None or how == words.FILL_IN:
            self._fill_in()
        elif how == words.AT_ONCE:
            self.again.run(self._meant(told_.story, task_id))
        else:
            self.again.ask(self._meant(told_.story, task_id))

    def _meant(self, story: WorkStory, task_id: str) -> Meant:
        _value, why, _tone, _glyph = words.again(story, instant.now_ms())
        kind, shop = type_names.name(story.task_type), self._shop_name(story.shop)
        title = _("{type} of {shop} once more: {why}").format(type=kind, shop=shop, why=why)
        return Meant(task_id, _("{type} of {shop}").format(type=kind, shop=shop), title)

    def _on_made(self) -> None:
        self._made = True
        self._ask_list()
        self._ask()
        self._say_buttons()

    def _on_way(self, verb: str, target: str) -> None:
        """What opens a page leaves this; what acts stays, and the answer changes in place."""
        told_ = self.answer.told
        if verb.startswith("copy_") and told_ is not None:
            name = self._shop_name(told_.story.shop)
            target = safe.masked(words.copied(told_.story, name, told_.day, instant.now_ms()))
        if verb in LEAVING:
            self.accept()
        self._context.way_out(verb, target)

    def _fill_in(self) -> None:
        shop, kind = self.works.current()
        if not kind:
            return
        platform, _colon, _shop_id = shop.partition(":")
        fields: dict[str, object] = {"platform": platform, "shops": [shop], "task_type": kind}
        payload = self._payload()
        if payload is not None:
            fields["payload"] = dict(payload)
        self.accept()
        self._context.new_task(fields)

    def _on_tasks(self) -> None:
        shop, kind = self.works.current()
        if kind:
            self._go("tasks", f'shop:"{shop}" type:"{kind}"')

    def _on_shop(self) -> None:
        shop, _kind = self.works.current()
        if shop:
            self._go("shops", shop)

    def _open_task(self) -> None:
        if task_id := self.answer.task_id:
            self._go("tasks", f'id:"{task_id}"')

    def _copy(self) -> None:
        told = self.answer.told
        if told is not None:
            name = self._shop_name(told.story.shop)
            QGuiApplication.clipboard().setText(words.copied(told.story, name, told.day, instant.now_ms()))

    def _on_day(self, day: str) -> None:
        """Ask of another day in the same words."""
        today = f"{shown.moment(instant.now_ms()).astimezone(shown.zone()):%Y-%m-%d}"
        found = self._found.understood if self._found is not None else Understood()
        self._retype(found.shop_words, found.type_words, TODAY if day == today else day)

    def _retype(self, shop: str, kind: str, day: str) -> None:
        self.field.setText(" ".join(part for part in (shop, kind, day if day != TODAY else "") if part))
        self._ask_list()

    def _go(self, page: str, request: object) -> None:
        self.accept()
        self.wanted.emit(page, request)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the answer, wherever the focus is."""
        if pressed(event, "tables.copy"):
            self._copy()
            return
        super().keyPressEvent(event)

    # chips

    def _fill_shops(self, menu: QMenu) -> None:
        found = self._found.understood if self._found is not None else Understood()
        retype = partial(self._retype, kind=found.type_words, day=found.day)
        self._fill(menu, found.shops[:OFFERED], self._shop_name, retype)

    def _fill_types(self, menu: QMenu) -> None:
        found = self._found.understood if self._found is not None else Understood()
        types = tuple(self._known.types) if self._known is not None else ()
        self._fill(menu, types[:OFFERED], type_names.name, lambda name: self._retype(found.shop_words, name, found.day))

    def _fill_days(self, menu: QMenu) -> None:
        found = self._found.understood if self._found is not None else Understood()
        now = shown.moment(instant.now_ms()).astimezone(shown.zone()).date()
        days = [TODAY, YESTERDAY]
        days += [now.fromordinal(now.toordinal() - back).isoformat() for back in range(2, DAYS_BACK + 1)]
        self._fill(menu, days, self._day_name, lambda day: self._retype(found.shop_words, found.type_words, day))

    def _fill(
        self, menu: QMenu, keys: Sequence[str], name: Callable[[str], str], choose: Callable[[str], None]
    ) -> None:
        menu.clear()
        for key in keys:
            offer(menu, safe.one_line(name(key), 60), partial(choose, key))

    # words

    def _shop_name(self, key: str) -> str:
        shop = self._known.shops.get(key) if self._known is not None else None
        return shop.called if shop is not None else key.partition(":")[2]

    def _day_name(self, day: str) -> str:
        now = shown.moment(instant.now_ms()).astimezone(shown.zone()).date()
        if day == TODAY:
            return _("today, {day}").format(day=f"{now:%m-%d}")
        if day == YESTERDAY:
            return _("yesterday, {day}").format(day=f"{now.fromordinal(now.toordinal() - 1):%m-%d}")
        return day

    def _on_tick(self) -> None:
        if self.isVisible():
            self.answer.say()
            self._say_state()

    def _say(self) -> None:
        self.field.setPlaceholderText(_("shop, task type, day: pdd:s1 sync yesterday"))
        self.field.setAccessibleName(_("Shop, task type and day"))
        self.payload.setPlaceholderText(_("parameters as JSON"))
        self.payload.setAccessibleName(_("Parameters"))
        self.payload.setToolTip(self._problem or _("as JSON; empty asks for any"))
        self.payload.setVisible(self._by_payload())
        self.understood.setText(_("Understood as"))
        self.hints.show_text(_("Up, Down: next work   Tab: into the answer   Left, Right: run by run   Esc: close"))
        found = self._found.understood if self._found is not None else Understood()
        shops, kinds = (_("shops like"), _("all shops")), (_("types like"), _("all types"))
        self.shop_chip.set_count_text(_chip(found.shops, found.shop_words, self._shop_name, *shops))
        self.type_chip.set_count_text(_chip(found.types, found.type_words, type_names.name, *kinds))
        self.day_chip.set_count_text(self._day_name(found.day))
        self.number.show_text(self._numbers())
        self._say_state()
        self._say_nothing(found)
        self._say_buttons()

    def _numbers(self) -> str:
        works = self.works.works()
        if not works:
            return ""
        number, shops = len(works), len({shop for shop, _kind in works})
        said = ngettext("{n} work", "{n} works", number).format(n=text.count(number))
        return _("{works} in {shops}").format(
            works=said, shops=ngettext("{n} shop", "{n} shops", shops).format(n=text.count(shops))
        )

    def _say_state(self) -> None:
        told_, now = self.answer.told, instant.now_ms()
        glyph, words_ = "", ""
        if self._problem:
            glyph, words_ = "warning", self._problem
        elif self._error is not None:
            at = shown.clock(told_.at_ms, now) if told_ is not None else ""
            why = told(self._error)
            glyph, words_ = "warning", text.listed([_("asked at {time}").format(time=at), why]) if at else why
        elif told_ is not None:
            glyph = "healthy" if told_.story.known else "unknown"
            ago = text.age(shown.span(now - told_.at_ms))
            whole, part = _("asked {ago}, all of it is known"), _("asked {ago}, not all of it is known")
            words_ = (whole if told_.story.known else part).format(ago=ago)
        self._state_glyph.setVisible(bool(glyph))
        if glyph:
            token = status(glyph)
            self._state_glyph.setPixmap(theme().pixmap(token.glyph, token.role, 14))
        self.state.show_text(words_)

    def _say_nothing(self, found: Understood) -> None:
        """What stands in the place of an answer."""
        _shop, kind = self.works.current()
        if kind and self.answer.told is not None:
            self._stack.setCurrentIndex(1)
            return
        title, hint, error = N_("Ask of a shop and a task type"), "", self._error
        if error is not None or self._problem:
            title = N_("Nothing is known yet")
        elif self._known is None or kind or (self._found is None and self.field.text().strip()):
            title = N_("Asking…")
        elif found.nothing:
            hint = N_("Type any part of the shop's name or id, then of the type, then a day.")
        elif not found.shops:
            title = N_("No shop is called so.")
        elif not found.types:
            title = N_("No type is called so.")
        elif self._found is not None and self._found.unsure:
            title = N_("Nothing is known of it; it may have run")
        else:
            title = N_("Never ran; nothing is planned")
        self.nothing.set_texts(title, hint)
        self.nothing.show_fact(told(error) if error is not None else self._problem)
        self._stack.setCurrentIndex(0)

    def _say_buttons(self) -> None:
        _shop, kind = self.works.current()
        told_ = self.answer.told
        none = "" if kind else _("Choose shop and type first")
        unknown = none or ("" if told_ is not None else _("Asking…"))
        command = safe.masked(self.command_line())
        said = _("same on the command line: {command}").format(command=command) if command else ""
        self.command.show_text(said, command)
        self.command_copy.setVisible(bool(command))
        self.copy_button.disable(unknown)
        self.shop_button.disable(none)
        self.tasks_button.disable(none)
        how = words.way_again(told_.story, instant.now_ms()) if told_ is not None else words.FILL_IN
        if how == words.AT_ONCE and not self.answer.task_id:
            how = words.FILL_IN
        self.create_button.set_source(words.AGAIN_VERBS[how])
        late = _("Nothing newer is known") if self._error is not None and how != words.FILL_IN else ""
        busy = _("It is being created") if self.again.busy else ""
        # the answer of before offers to create what was created just now
        asked = _("Asking…") if self._made and how != words.FILL_IN else ""
        self.create_button.disable(self._barred() or none or late or busy or asked)
        self.open_button.disable(unknown or ("" if self.answer.task_id else _("There is no task of it")))


class _Field(QLineEdit):
    """Signals:
    stepped: the next work is wanted (1), or the one before (-1).
    copied: the answer is wanted in the clipboard: no part of the line was marked.
    """

    stepped = Signal(int)
    copied = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the arrows move the list while the field keeps the focus."""
        marked = self.selectedText()
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        elif pressed(event, "tables.copy", writing=True) and marked in ("", self.text()):
            self.copied.emit()
        else:
            super().keyPressEvent(event)


def _chip(keys: Sequence[str], typed: str, name: Callable[[str], str], like: str, every: str) -> str:
    if len(keys) == 1:
        return safe.one_line(name(keys[0]), 24)
    return f"{like} {safe.one_line(typed, 20)}" if typed else every


def _look_for(context: PageContext, typed: str, known: Directory) -> Found:
    """What the words mean, and the answer of each work, the first ones; those of which nothing is known are left out,
    unless one type alone was meant. Blocking.
    """
    found = asking.understand(typed, known)
    each = max(1, len(found.types))
    shops = found.shops[: max(1, MOST_ASKED // each)] if found.types else ()
    works = [(shop, kind) for shop in shops for kind in found.types][:MOST_ASKED]
    stories = context.limits.stories(works, found.day) if works else ()
    empty = [story for story in stories if story.empty]
    # what no ledger counts is forgotten with its record, and of some nobody has asked
    unsure = {story.shop for story in empty if not story.one_work} | set(shops if each > MOST_ASKED else ())
    if len(found.types) > 1 or not found.shop_words:
        stories = tuple(story for story in stories if not story.empty)
    stories = stories[:LISTED]
    there = {story.shop for story in stories}
    cut = {shop for shop, _kind in works[-1:]} if len(stories) == LISTED else set()
    bare = tuple(shop for shop in shops if shop not in there and shop not in cut) if len(stories) < LISTED else ()
    bare = bare[:LISTED]
    # where no type is called so, more typing would bring none of the shops
    left = len(found.shops) - len(there) - len(bare) if found.types else 0
    return Found(understood=found, stories=stories, left=max(0, left), bare=bare, unsure=frozenset(unsure))


def _rows(found: Found, known: Directory) -> list[WorkRow]:
    """Shops in their order with their works below them."""
    rows: list[WorkRow] = []
    now = instant.now_ms()

    def head(key: str) -> WorkRow:
        shop = known.shops.get(key)
        platform, _colon, shop_id = key.partition(":")
        name = shop.called if shop is not None else shop_id
        return WorkRow(shop=key, words=name, under=shop_id, badge=platform_badge(platform))

    for story in found.stories:
        if not rows or rows[-1].shop != story.shop:
            rows.append(head(story.shop))
        glyph, said, under = words.brief(story, now)
        rows.append(WorkRow(shop=story.shop, task_type=story.task_type, words=said, under=under, status=glyph))
    unsure, never = _("Nothing is known of it; it may have run"), _("Never ran; nothing is planned")
    for key in found.bare:
        said = unsure if key in found.unsure else never
        rows += [head(key), WorkRow(shop=key, words=said, note=True)]
    if found.left:
        more = ngettext("and {n} more shop; go on typing", "and {n} more shops; go on typing", found.left)
        rows.append(WorkRow(shop="", words=more.format(n=text.count(found.left)), note=True))
    return rows
