"""Did it run? A shop, a type and a day are chosen, and one answer is given, whichever task did the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from PySide6.QtCore import QDate, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from services.domain.fleet.shop import Shop
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.text.ordering import as_read
from services.domain.types import strict_json
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, language, ngettext
from services.messages import told
from services.monitor.works import WorkStory
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.dialogs.notice import Notice
from views.dialogs.work import words
from views.dialogs.work.words import Line
from views.support import instant, safe, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.theme import theme
from views.theme.tokens import platform_badge, status
from views.widgets.buttons import Button, LinkLabel
from views.widgets.fields import DateTimeField, Labelled
from views.widgets.find_field import FindField
from views.widgets.scroll_pane import ScrollPane
from views.widgets.segmented import Segmented

WIDTH, ROOM_HEIGHT = 760, 240
TYPING_MS, LOOK_MS = 250, 2000
TODAY, YESTERDAY, DATE = "today", "yesterday", "date"
DAYS = ((TODAY, N_("Today")), (YESTERDAY, N_("Yesterday")), (DATE, N_("Date")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked; complete when shop and type are named."""

    shop: str = ""  #: platform:shop_id
    task_type: str = ""
    day: str = TODAY
    payload: Mapping[str, Any] | None = None  #: None asks for any


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What there is to choose from."""

    shops: Mapping[str, Shop] = field(default_factory=dict)
    types: Mapping[str, TaskType] = field(default_factory=dict)


class WorkDialog(DialogFrame):
    """Open it with ``open()``. It follows the fleet while it is open.

    Signals:
        wanted: a page, and what it shall show there.
        answered: another answer stands there.
    """

    wanted = Signal(str, object)
    answered = Signal()

    def __init__(
        self,
        context: PageContext,
        asked: Asked = Asked(),
        barred: Callable[[], str] = str,
        parent: QWidget | None = None,
    ) -> None:
        """``barred``: why nothing can be created, "" when it can; asked again with each answer."""
        super().__init__(N_("Did it run?"), icon="ph.clock-counter-clockwise", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(WIDTH)
        self._context, self._barred = context, barred
        self._known, self._told = Known(), Asked()
        self._story: WorkStory | None = None
        self._story_at = 0  # when it was told, UTC ms
        self._unread = True  # what there is to choose from was not read yet
        self._error: BaseException | None = None  # why nothing newer is known
        self._problem = ""
        self._reading, self._asking = Operation(self), Operation(self, latest=True)
        self._soon = Debounce(self._ask, TYPING_MS, self)
        self._again = QTimer(self, interval=LOOK_MS)
        self._again.timeout.connect(self._look_again)
        self._again.start()
        self._build()
        self._fill(asked)
        self._connect()
        self._read_choices()
        self._say()

    # putting together

    def _build(self) -> None:
        self.shop, self.task_type, self.payload = FindField(), FindField(), QLineEdit()
        self.day, self.date = Segmented(DAYS, N_("Day")), DateTimeField()
        self.date.setDisplayFormat("yyyy-MM-dd")
        self._fields = {
            "shop": Labelled(N_("Shop"), self.shop, hint=N_("any part of its name or id")),
            "type": Labelled(N_("Task type"), self.task_type),
            "payload": Labelled(N_("Parameters"), self.payload, hint=N_("as JSON; empty asks for any")),
        }
        self.payload.setPlaceholderText('{"page": 2}')
        top, below = QHBoxLayout(), QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self._fields["shop"], 1)
        top.addWidget(self._fields["type"], 1)
        day = QVBoxLayout()
        day.setSpacing(5)
        self._day_title = Label("", "label", "text2")
        days = QHBoxLayout()
        days.setSpacing(8)
        days.addWidget(self.day)
        days.addWidget(self.date)
        days.addStretch(1)
        day.addWidget(self._day_title)
        day.addLayout(days)
        day.addStretch(1)
        below.setSpacing(12)
        below.addLayout(day, 1)
        below.addWidget(self._fields["payload"], 1)
        self.body.addLayout(top)
        self.body.addLayout(below)
        self.body.addWidget(line())
        self.answer = Notice("unconfirmed")
        self.still = Label("", "labelstrong", "retrying")
        self.hint = Label("", "body", "text3", wrap=True)
        self.lines = _Lines()
        self.rest = Label("", "label", "text3", wrap=True)
        room = QWidget()
        room.setFixedHeight(ROOM_HEIGHT)  # with an answer or without one the fields stay where they are
        column = QVBoxLayout(room)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.still)
        column.addWidget(self.hint)
        column.addWidget(self.answer)
        column.addWidget(self.lines, 1)
        column.addWidget(self.rest)
        column.addStretch()
        self.body.addWidget(room)
        self.tasks_button = Button(N_("Show its tasks"), icon="ph.list-bullets")
        self.create_button = Button(N_("Create it"), icon="ph.plus", shortcut="Ctrl+Return")
        self.close_button = Button(N_("Close"), hint="Esc")
        self.foot.addWidget(self.tasks_button)
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)
        self.foot.addWidget(self.create_button)

    def _connect(self) -> None:
        self.shop.editTextChanged.connect(lambda _text: self._on_changed())
        self.task_type.editTextChanged.connect(lambda _text: self._on_changed())
        self.payload.textChanged.connect(lambda _text: self._on_changed())
        self.date.dateChanged.connect(lambda _date: self._on_changed())
        self.day.chosen.connect(lambda _day: self._on_changed())
        self.lines.wanted.connect(self._go)
        self.tasks_button.clicked.connect(self._on_tasks)
        self.create_button.clicked.connect(self._on_create)
        self.close_button.clicked.connect(self.reject)
        on_language_changed(self._say_choices)
        on_language_changed(self._say)

    def _fill(self, asked: Asked) -> None:
        if asked.shop:
            self.shop.choose(asked.shop)
        if asked.task_type:
            self.task_type.choose(asked.task_type)
        if asked.day in (TODAY, YESTERDAY):
            self.day.set_current(asked.day)
        else:
            self.day.set_current(DATE)
            self.date.setDate(QDate.fromString(asked.day, "yyyy-MM-dd"))

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with what is not chosen yet."""
        super().showEvent(event)
        first = self.shop if not self.shop.currentText() else self.task_type
        first.setFocus()
        if (typed := first.lineEdit()) is not None:
            typed.selectAll()  # another one is typed over what the page had chosen

    # asking

    def asked(self) -> Asked | None:
        """What is asked by now; None where the parameters say nothing."""
        day = self.day.current()
        if day == DATE:
            day = self.date.date().toString("yyyy-MM-dd")
        payload, self._problem = self._payload()
        if self._problem:
            return None
        return Asked(shop=self.shop.chosen(), task_type=self.task_type.chosen(), day=day, payload=payload)

    def _payload(self) -> tuple[Mapping[str, Any] | None, str]:
        typed = self.payload.text().strip()
        if not typed or not self._by_payload():
            return None, ""
        try:
            found = strict_json.loads(typed)
        except (ValueError, RecursionError):
            found = None
        return (found, "") if isinstance(found, dict) else (None, _("This is no JSON object"))

    def _by_payload(self) -> bool:
        """Whether the parameters tell one work of the type from another."""
        name = self.task_type.chosen()
        kind = self._known.types.get(name) or TaskType.default(name)
        return bool(name) and kind.uniqueness == "shop_type_payload"

    def _read(self) -> Known:
        shops = dict(self._context.shops())
        for now in self._context.limits.states.look():  # also those of which only tasks tell
            platform, _colon, shop_id = now.key.partition(":")
            shops.setdefault(now.key, Shop(platform=platform, shop_id=shop_id))
        return Known(shops=shops, types=self._context.types())

    def _read_choices(self) -> None:
        self._reading.start(self._read, self._take, self._on_unread)

    def _take(self, known: Known) -> None:
        self._known, self._unread, self._error = known, False, None
        self._say_choices()
        if self._story is None or self.asked() != self._told:
            self._on_changed()

    def _on_unread(self, error: BaseException) -> None:
        if self._story is None:
            self._error = error
        self._say()

    def _on_changed(self) -> None:
        self._story = None
        if not self._unread:
            self._error = None  # it was about another question
        self._soon()
        self._say()

    def _ask(self) -> None:
        asked = self.asked()
        if asked is None or not (asked.shop and asked.task_type):
            self._story = None
            self._say()
            return
        call = partial(self._context.limits.story, asked.shop, asked.task_type, asked.day, asked.payload)
        self._asking.start(call, partial(self._show, asked), partial(self._on_failed, asked))

    def _look_again(self) -> None:
        """Something may have happened, and what failed may work by now."""
        if not self.isVisible():
            return
        if self._unread and not self._reading.busy:
            self._read_choices()
        asked = self.asked()
        if asked is not None and asked.shop and asked.task_type and not self._asking.awaited:
            self._ask()

    def _show(self, asked: Asked, story: WorkStory | None) -> None:
        if asked != self.asked():
            return
        self._story, self._story_at, self._told, self._error = story, instant.now_ms(), asked, None
        self._say()
        self.answered.emit()

    def _on_failed(self, asked: Asked, error: BaseException) -> None:
        """Keep what was known; it is asked again before long."""
        if asked != self.asked():
            return
        self._error = error
        self._say()

    # acting

    def _on_create(self) -> None:
        asked = self.asked()
        if asked is None or not asked.shop:
            return
        platform, _colon, _shop_id = asked.shop.partition(":")
        fields: dict[str, object] = {"platform": platform, "shops": [asked.shop]}
        if asked.task_type:
            fields["task_type"] = asked.task_type
        if asked.payload is not None:
            fields["payload"] = dict(asked.payload)
        self.accept()
        self._context.new_task(fields)

    def _on_tasks(self) -> None:
        asked = self.asked()
        if asked is not None and asked.shop:
            terms = [equals("shop", asked.shop)]
            if asked.task_type:
                terms.append(equals("type", asked.task_type))
            self._go("tasks", filter.format_terms(tuple(terms)))

    def _go(self, page: str, request: object) -> None:
        self.accept()
        self.wanted.emit(page, request)

    # words

    def _say_choices(self) -> None:
        shops = sorted(self._known.shops.items(), key=lambda one: as_read(one[0]))
        self.shop.show_choices([(key, _shop_words(shop)) for key, shop in shops])
        kinds = sorted(self._known.types.items())
        self.task_type.show_choices([(name, _type_words(kind)) for name, kind in kinds])

    def _say(self) -> None:
        self._day_title.setText(_("Day"))
        self.date.setVisible(self.day.current() == DATE)
        self.date.setAccessibleName(_("Date"))
        self._fields["payload"].setVisible(self._by_payload())
        asked, story, now = self.asked(), self._story, instant.now_ms()
        self._fields["payload"].set_error(self._problem)
        named = asked is not None and bool(asked.shop and asked.task_type)
        error = self._error
        self.hint.setText(told(error) if error is not None else self._hint(named))
        self.hint.setVisible(story is None or error is not None)
        old = story is not None and error is not None
        self.still.setText(_("as of {time}").format(time=shown.clock(self._story_at, now)) if old else "")
        self.still.setVisible(old)
        self.lines.setVisible(story is not None)
        self.tasks_button.disable("" if asked is not None and asked.shop else _("Choose a shop first"))
        self.create_button.disable(self._barred() or ("" if named else _("Choose shop and type first")))
        if story is None:
            self.answer.show_words("", "")
            self.lines.show_lines(())
            self.rest.hide()
            return
        found = words.answer(story, now)
        self.answer.set_status(found.status)
        self.answer.show_words(found.lead, found.words)
        wanted = found.known and found.status not in ("healthy", "running")
        self.create_button.set_kind("primary" if wanted else "plain")
        self.lines.show_lines(words.lines(story, now))
        rest = words.left_out(story, found)
        self.rest.setText(rest)
        self.rest.setVisible(bool(rest))

    def _hint(self, named: bool) -> str:
        for choice, none in ((self.shop, N_("No shop is called so.")), (self.task_type, N_("No type is called so."))):
            number = len(choice.matches())
            if choice.currentText().strip() and not number and self._known.types:
                return _(none)
            if number > 1:
                more = ngettext("{n} fits; go on typing.", "{n} fit; go on typing.", number)
                return more.format(n=text.count(number))
        return _("Asking…") if named else _("Choose a shop and a task type.")


class _Lines(ScrollPane):
    """Signals:
    wanted: a page, and what it shall show there.
    """

    wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.body.setSpacing(4)
        self._shown: tuple[Line, ...] = ()
        self.links: dict[str, LinkLabel] = {}  #: by id of a task or name of a schedule

    def show_lines(self, found: Sequence[Line]) -> None:
        """Show these, if they are others: a link that stays keeps its focus."""
        if tuple(found) == self._shown:
            return
        self._shown = tuple(found)
        focused = next((key for key, link in self.links.items() if link.hasFocus()), "")
        while (item := self.body.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.links = {}
        for one in found:
            self.body.addWidget(self._row(one))
        self.body.addStretch(1)
        if focused in self.links:
            self.links[focused].setFocus()

    def _row(self, one: Line) -> QWidget:
        widget = QWidget()
        row = QHBoxLayout(widget)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(8)
        token, glyph = status(one.status), QLabel()
        glyph.setPixmap(theme().pixmap(token.glyph, token.role, 15))
        row.addWidget(glyph)
        row.addWidget(Label(safe.visible(one.words), "body", wrap=True), 1)
        if key := one.task_id or one.schedule:
            link = LinkLabel()
            link.set_count_text(safe.one_line(key, 44))
            link.activated.connect(partial(self._open, one))
            link.setAccessibleDescription(one.words)
            self.links[key] = link
            row.addWidget(link)
        return widget

    def _open(self, one: Line) -> None:
        if one.task_id:
            self.wanted.emit("tasks", filter.format_terms((equals("id", one.task_id),)))
        else:
            self.wanted.emit("schedules", one.schedule)


def _shop_words(shop: Shop) -> str:
    named = f"{shop.name}  ·  {shop.shop_id}" if shop.name else shop.shop_id
    return f"{named}  ·  {platform_badge(shop.platform)}"


def _type_words(kind: TaskType) -> str:
    title = shown.title_of(kind.title, kind.name, language())
    return f"{title}  ·  {kind.name}" if title != kind.name else kind.name
