"""Quiet hours: which there are and when they hold, one form to set some, and a way to take each away."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services import messages
from services.commands.quiet import QuietNow
from services.domain.fleet.shop import SCOPE_ALL, Shop
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import QuietHours
from services.domain.text.ordering import as_read
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from views.context import PageContext
from views.dialogs.typed import KeepsTyped
from views.support import instant, safe, shown, text
from views.support.acting import tell_done, unless_changed
from views.support.language import say_in_language
from views.support.look import Label, line
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.fields import Labelled
from views.widgets.find_field import FindField
from views.widgets.layout import clear, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec, failure

WIDTH, LIST_HEIGHT = 640, 220
#: of a name; what else stands in a scope becomes a hyphen
_NO_NAME = re.compile(r"[^\w-]+")


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, and what quiet hours can be for."""

    quiet: Sequence[QuietNow]
    zone: str
    shops: Mapping[str, Shop]
    types: Mapping[str, TaskType]


class QuietHoursDialog(KeepsTyped):
    """Signals:
    changed: some were set or taken away.
    """

    changed = Signal()

    def __init__(
        self, context: PageContext, reason: str = "", parent: QWidget | None = None, *, scope: str = ""
    ) -> None:
        """``reason``: why nothing can be changed, "" when it can; ``scope``: what they are to be for."""
        super().__init__(N_("Quiet hours"), icon="ph.moon", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.set_width(WIDTH)
        self._context, self._reason, self._for = context, reason, scope
        self._asking, self._acting = Operation(self, latest=True), Operation(self)
        self._undoing = Operation(parent or self)  # the Undo outlives the dialog
        self.scope, self.name, self.when, self.why = FindField(), QLineEdit(), QLineEdit(), QLineEdit()
        self.edit_buttons: dict[str, Button] = {}
        self.remove_buttons: dict[str, Button] = {}
        self._taken: frozenset[str] = frozenset()
        self._given = ""  #: the name that was made of the scope; another one is the person's
        self._again: Callable[[], None] = self._ask  #: what is tried once more
        self._known: _Known | None = None
        self._what = Label("", "body", "text2", wrap=True)
        self._build()
        self.scope.editTextChanged.connect(self._on_scope)
        for field in (self.name, self.when, self.why):
            field.textChanged.connect(self._check)
        say_in_language(self._say)
        self._ask()
        self.scope.setFocus()

    def _build(self) -> None:
        self.body.addWidget(self._what)
        self.error = ErrorStrip()  # messages of the window lie behind this dialog
        self.error.retry.connect(self._on_retry)
        self._list = ScrollPane()
        self._list.grow_with_content(LIST_HEIGHT)
        put(self.body, self.error, self._list)
        self.body.addWidget(line())
        self.why.setMaxLength(quiet_hours.MOST_TEXT)
        self._fields = {
            "scope": Labelled(N_("Nothing starts of"), self.scope, hint=N_("any part of its name or id")),
            "name": Labelled(N_("Name"), self.name, hint=N_("one that is there is replaced")),
            "when": Labelled(N_("When"), self.when, hint=N_("several with a semicolon between them")),
            "reason": Labelled(N_("Why"), self.why, hint=N_("every waiting task says it")),
        }
        for pair in (("scope", "name"), ("when",), ("reason",)):
            row = in_row(spacing=12)
            for key in pair:
                row.addWidget(self._fields[key], 1, Qt.AlignmentFlag.AlignTop)
            self.body.addLayout(row)
        self.cancel_button, self.save_button = self.end_with_save(self._on_save)

    def _say(self) -> None:
        """Say everything, in the language of the moment."""
        self._what.setText(
            _(
                "While quiet hours hold, nothing of what they are for starts; what runs goes on. What waits goes on by"
                " itself when they end."
            )
        )
        typed = self.scope.lineEdit()
        assert typed is not None  # it is editable
        typed.setPlaceholderText(_("Platform, shop or task type"))
        self.when.setPlaceholderText(_("until 06:00; mon-fri 22:00-06:00; 2026-11-24 22:00 - 2026-11-25 06:00"))
        if self._known is not None:
            self._show_known(self._known)
        self._check()

    # looking

    def _ask(self) -> None:
        context, quiet = self._context, self._context.commands.quiet

        def look() -> _Known:
            return _Known(quiet=quiet.known(), zone=quiet.zone(), shops=context.shops(), types=context.types())

        self._again = self._ask
        self._asking.start(look, self._show, self._fail)

    def _on_retry(self) -> None:
        self._again()

    def _show(self, known: _Known) -> None:
        if self._again == self._ask:
            self.error.clear()
        self._show_known(known)
        if self._for and not self.scope.currentText():
            self.scope.choose(self._for)
            self.begin_here()
            self.when.setFocus()
        self._for = ""

    def _show_known(self, known: _Known) -> None:
        self._known, found = known, known.quiet
        self._taken = frozenset(one.hours.name for one in found)
        self.set_note(_("times of {zone}").format(zone=known.zone))
        untouched = not self.is_typed()
        self.scope.show_choices(_scopes(known))
        if untouched:  # the same choice may have other words now
            self.begin_here()
        body = self._list.body
        clear(body)
        self.edit_buttons, self.remove_buttons = {}, {}
        for one in found:
            body.addWidget(self._row(one, known.zone))
        if not found:
            body.addWidget(Label(_("There are none yet."), "body", "text3"))
        body.addStretch(1)

    def _row(self, one: QuietNow, zone: str) -> QWidget:
        hours, widget = one.hours, QWidget()
        when = [text.weekly(part.days, part.start, part.end) for part in hours.weekly]
        now = instant.now_ms()
        when += [f"{_clock(part.start, now, zone)} – {_clock(part.end, now, zone)}" for part in hours.once]
        title = _("{name}: {value}").format(name=hours.name, value=shown.scope_name(hours.scope))
        column = in_column(
            Label(title, "body"),
            Label(text.listed([_state(one, now, zone), *when], ";"), "label", "text2", wrap=True),
            spacing=2,
        )
        who, why = safe.one_line(messages.noted(hours.by), 80), safe.one_line(hours.reason, 200)
        column.addWidget(Label(_("{name}: {value}").format(name=who, value=why), "label", "text3"))
        row = in_row((column, 1), owner=widget, margins=(0, 2, 0, 6))
        edit, remove = (
            Button(N_("Edit"), icon="ph.pencil-simple", small=True),
            Button(N_("Remove"), icon="ph.trash", small=True),
        )
        edit.clicked.connect(partial(self._edit, hours, zone))
        remove.clicked.connect(partial(self._remove, hours))
        for button in (edit, remove):
            button.setAccessibleDescription(title)
            button.disable(self._reason)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.edit_buttons[hours.name], self.remove_buttons[hours.name] = edit, remove
        return widget

    # acting

    def _chosen(self) -> str:
        """The scope that is meant; what is none as it was typed, for the refusal to name it."""
        return self.scope.chosen() or self.scope.currentText().strip()

    def _on_scope(self) -> None:
        """Make a name of it, unless a person has given one."""
        if self.name.text() == self._given:
            scope = self.scope.chosen()
            self._given = _name(scope, self._taken) if scope else ""
            self.name.setText(self._given)
        self._check()

    def _check(self) -> None:
        for field in self._fields.values():
            field.set_error("")
            field.field.setEnabled(not self._reason)
        self.save_button.disable(self._reason or self._missing())

    def _missing(self) -> str:
        """What is still to be filled in, the first of it; "" for nothing."""
        asked = (
            (self._chosen(), _("Choose first what shall not start")),
            (self.name.text(), _("Give it a name first")),
            (self.when.text(), _("Say first when")),
            (self.why.text(), _("Write first why: every waiting task says it")),
        )
        return next((words for said, words in asked if not said.strip()), "")

    def _edit(self, hours: QuietHours, zone: str) -> None:
        """Put some into the form as they are, to be saved in their own place."""
        now, clock = instant.now_ms(), ZoneInfo(zone)
        when = [text.weekly(part.days, part.start, part.end) for part in hours.weekly]
        ahead = [part for part in hours.once if part.end > now] or ([] if when else hours.once)
        moments = [[datetime.fromtimestamp(at / 1000, clock) for at in (part.start, part.end)] for part in ahead]
        when += [f"{begin:%Y-%m-%d %H:%M} - {end:%Y-%m-%d %H:%M}" for begin, end in moments]
        self.scope.choose(hours.scope)
        self._given = ""
        for field, words in ((self.name, hours.name), (self.when, "; ".join(when)), (self.why, hours.reason)):
            field.setText(words)
        self.when.setFocus()

    def _on_save(self) -> None:
        scope = self._chosen()
        name, when, why = (field.text().strip() for field in (self.name, self.when, self.why))
        commands = self._context.commands.quiet

        def act() -> QuietHours | None:
            weekly, once = quiet_hours.windows(when, commands.zone(), instant.now_ms())
            return commands.set(QuietHours(name=name, scope=scope, weekly=weekly, once=once, reason=why))

        def done(before: QuietHours | None) -> None:
            back = partial(commands.remove, name) if before is None else partial(commands.set, before)
            self._told(lambda: _("Quiet hours {name} are set.").format(name=name), back)
            self.scope.setEditText("")
            for field in (self.name, self.when, self.why):
                field.clear()
            self._given = ""
            self.cancel_button.set_source(N_("Close"))  # it takes back nothing of what is set
            self.begin_here()
            self.scope.setFocus()

        self._again = self._on_save
        self.error.clear()
        self._acting.start(act, done, self._refused)

    def _remove(self, hours: QuietHours) -> None:
        commands = self._context.commands.quiet

        def said() -> str:
            return _("Quiet hours {name} are removed; what waited goes on.").format(name=hours.name)

        call, back = partial(commands.remove, hours.name), partial(commands.set, hours)
        self._again = partial(self._remove, hours)
        self.error.clear()
        self._acting.start(call, lambda _was: self._told(said, back), self._fail)

    def _told(self, said: Callable[[], str], back: Callable[[], object]) -> None:
        toast, undoing = self._context.toast, self._undoing
        call = unless_changed(self._context.audit, back)

        def undo() -> None:
            undoing.start(
                call, lambda _result: toast(ToastSpec(text=_("Taken back."))), lambda error: toast(failure(error))
            )

        tell_done(toast, said, undo)
        self.changed.emit()
        self._ask()

    def _refused(self, error: BaseException) -> None:
        field = self._fields.get(str(getattr(error, "field", "")))
        if field is None:
            self._fail(error)
        else:
            field.set_error(messages.told(error))

    def _fail(self, error: BaseException) -> None:
        self.error.show_error(messages.told(error), lead=_("That did not work."))


def _scopes(known: _Known) -> list[tuple[str, str]]:
    """All that quiet hours can be for, with what people read of each, the widest first."""
    platforms = sorted({shop.platform for shop in known.shops.values()})
    wide = [(f"platform:{name}", shown.scope_name(f"platform:{name}")) for name in platforms]
    types = [(f"type:{name}", shown.scope_name(f"type:{name}")) for name in sorted(known.types)]
    keys = sorted(known.shops, key=as_read)
    shops = [(f"shop:{key}", f"{known.shops[key].called} ({key})") for key in keys]
    return [
        (SCOPE_ALL, _("Everything")),
        *((scope, _("all of {platform}").format(platform=name)) for scope, name in wide),
        *((scope, _("task type {name}").format(name=name)) for scope, name in types),
        *shops,
    ]


def _name(scope: str, taken: frozenset[str]) -> str:
    """A name for quiet hours of a scope that no others have."""
    base = _NO_NAME.sub("-", scope.partition(":")[2] or scope).strip("-_")[:40] or "quiet"
    names = (base, *(f"{base}-{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _state(one: QuietNow, now_ms: int, zone: str) -> str:
    if not one.ends:
        return _("over")
    if one.holds or one.begins <= now_ms:
        return _("now, until {time}").format(time=_clock(one.ends, now_ms, zone))
    return _("next {time}").format(time=_clock(one.begins, now_ms, zone))


def _clock(at: int, now_ms: int, zone: str) -> str:
    """Of the fleet's clocks, by which quiet hours are meant, whatever zone the window shows elsewhere."""
    there = shown.moment(at).astimezone(ZoneInfo(zone))
    now = shown.moment(now_ms).astimezone(ZoneInfo(zone))
    # the hour counts in another year too, which a clock elsewhere leaves out
    return f"{there:%Y-%m-%d %H:%M}" if there.year != now.year else text.clock(there, now, ZoneInfo(zone))
