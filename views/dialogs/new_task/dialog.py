"""The New task dialog: what, for which shops, with which parameters, how urgent; the result always in sight."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from services.commands.sheet import columns, table
from services.commands.sheet.columns import Column
from services.commands.sheet.orders import Orders
from services.commands.sheet.table import Table
from services.commands.tasks import Submitted, TaskSpec
from services.domain.fleet import environment
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.task import ledger
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.file import FileDialog
from views.dialogs.frame import DialogFrame
from views.dialogs.name import NameDialog
from views.dialogs.new_task.created import Created, Creator
from views.dialogs.new_task.draft import (
    FORCE,
    QUEUE,
    REJECT,
    STOP,
    Draft,
    from_prefill,
    kept_draft,
    none_left,
)
from views.dialogs.new_task.forecast import Forecast
from views.dialogs.new_task.form import NewTaskForm
from views.dialogs.new_task.lookup import Known, Lookup
from views.dialogs.new_task.side import NARROW, WIDTH
from views.dialogs.new_task.twins import Twins
from views.dialogs.notice import DoneStrip
from views.dialogs.schema.json_text import pretty
from views.dialogs.sheet.columns import field_word
from views.dialogs.sheet.step import SheetStep
from views.dialogs.sheet.work import SheetDraft, SheetRequest, SheetWork, file_of, kept_file
from views.dialogs.shops.picker import FILE
from views.support import instant, safe, text
from views.support.keys import Shortcut
from views.support.language import on_language_changed
from views.support.memory import Memory
from views.support.operation import Operation
from views.support.throttle import Debounce, Throttle
from views.widgets.buttons import Button
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_row, put, stacked
from views.widgets.strip import ErrorStrip
from views.widgets.toast import ToastSpec

KEY, MOST = "newtask.templates", 50
#: where the draft lies that nobody has created or discarded, for the next start of this program
DRAFT, KEEP_MS = "newtask.draft", 1000
#: names of the drafts that are in a dialog of this program; it goes with its window, as where the connection is left
_LIVING: set[str] = set()


class NewTaskFoot:
    """Buttons in the foot of the dialog; ``form`` and ``outcome`` need different ones."""

    def __init__(self, foot: QHBoxLayout) -> None:
        self.discard = Button(N_("Discard"), icon="ph.trash")
        self.keep = Button(N_("Save as template"), icon="ph.floppy-disk")
        self.copy = Button(N_("Copy as JSON"), icon="ph.copy")
        self.back = Button(N_("Back to the form"))
        self.cancel = Button(N_("Cancel"), hint="Esc")
        self.part = Button(N_("Send the good ones"), kind="primary", icon="ph.paper-plane-tilt", shortcut="dialog.main")
        self.create = Button(kind="primary", icon="ph.plus", shortcut="dialog.main")
        self.create.set_count_text(_("Create"))
        self.missing = Elided("", "label", "dead")
        self.barred = ""  #: why nothing may be changed now, translated
        for button in (self.discard, self.keep, self.copy, self.back):
            foot.addWidget(button)
        put(foot, STRETCH, self.missing, self.cancel, self.part, self.create)
        self.part.hide()

    def show_file(
        self, *, of_step: bool, number: int, left_out: int, bad: int, rows: int, blocked: str, busy: bool
    ) -> None:
        """Say what becomes of a file: in its own step the tasks and what is left out, before it the way there.

        While rows have errors the one button sends the good ones and keeps the others: a disabled one beside it, with
        another number, would seem to be the way there.
        """
        count, out = text.count(number), text.count(left_out)
        words = ngettext("Create {n} task", "Create {n} tasks", number).format(n=count)
        if left_out:
            words = _("Create {n}, leave out {out}").format(n=count, out=out)
        check = ngettext("Check {n} row", "Check {n} rows", rows).format(n=text.count(rows))
        self.create.set_count_text(words if of_step else check if rows else _("Choose a file"))
        part = ngettext(
            "Send the {good} good one, keep {bad} as a file", "Send the {good} good ones, keep {bad} as a file", number
        )
        self.part.set_count_text(part.format(good=count, bad=text.count(bad)))
        self.part.disable(_("Creating") if busy else self.barred or blocked)
        if of_step and bad and not busy:
            wrong = ngettext("{n} row has errors", "{n} rows have errors", bad).format(n=text.count(bad))
            blocked = blocked or (wrong if number else _("{rows}: correct them first").format(rows=wrong))
        blocked = self.barred or blocked
        self.create.disable(_("Creating") if busy else blocked)
        self.missing.show_text(blocked)
        self.missing.set_tone("text2")
        partly = of_step and bool(bad) and bool(number)
        for widget, visible in (
            (self.create, not partly),
            (self.part, partly),
            (self.discard, True),
            (self.copy, False),
            (self.keep, False),
            (self.back, of_step),
        ):
            widget.setVisible(visible)
        self.cancel.set_source(N_("Cancel"))

    def show_state(
        self,
        *,
        on_form: bool,
        number: int,
        blocked: str,
        unfilled: str,
        wrong: bool,
        busy: bool,
        planned: bool = False,
    ) -> None:
        """Say how many are created, or what keeps them from it; only what is ``wrong`` is said in red.

        What is merely not filled in yet is said too, and a try then shows where.
        """
        count = text.count(number)
        words = ngettext("Create {n} task", "Create {n} tasks", number).format(n=count)
        plan = ngettext("Repeat for {n} shop", "Repeat for {n} shops", number).format(n=count)
        self.create.set_count_text(plan if planned else words)
        blocked, wrong = self.barred or blocked, wrong and not self.barred
        self.create.disable(_("Creating") if busy else blocked)
        self.missing.show_text(blocked or unfilled if on_form else "")
        self.missing.set_tone("dead" if wrong else "text2")
        for widget in (self.create, self.discard, self.copy, self.keep):
            widget.setVisible(on_form)
        self.part.hide()
        self.back.setVisible(not on_form)
        self.cancel.set_source(N_("Cancel") if on_form else N_("Close"))


SIZE, LEAST = (1098, 850), (900, 560)
#: the rows of a file
WIDE = (1400, 850)
CHECK_MS, LOOK_MS = 350, 1000
#: what an empty table begins with: its columns, and rows to be typed into
BLANK = (columns.SHOP, columns.TYPE, columns.PRIORITY, columns.PAYLOAD, columns.NOT_BEFORE, columns.DEADLINE)
BLANK_ROWS = 30
SHOWN = 100  #: as many tasks as a filter may name at once


class NewTaskDialog(DialogFrame):
    """Open it with ``open()``; closed, it keeps its draft until ``start_over`` or until the tasks are created.

    Signals:
        created: the ``Submitted`` of a creation.
        tasks_wanted: a filter that the Tasks page shall show.
    """

    created = Signal(object)
    tasks_wanted = Signal(str)

    def __init__(
        self, context: PageContext, prefill: Mapping[str, object] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(N_("New task"), icon="ph.plus-circle", parent=parent)
        self._context = context
        self._known = Known(shops={}, types={})
        self._prefill: Draft | None = from_prefill(prefill or {})
        self._usual: dict[str, Runs] = {}  #: by type, as far as it was asked for
        self._lookup = Lookup(context, self)
        self._creator = Creator(context, self)
        self._work = SheetWork(context, self)
        self._revealing = Operation(self, latest=True)
        self._of_drop = ""  #: what the notice told of what was dropped last
        self._check_soon = Debounce(self._check_twins, CHECK_MS, self)
        self._look = Throttle(self._show_outlook, LOOK_MS, self)
        self._keep_soon = Debounce(self._keep_draft, KEEP_MS, self)
        self._kept: Mapping[str, Any] = {}
        self._made: Mapping[str, Any] = {}  #: the draft of which tasks were created
        self._run = secrets.token_hex(8)
        _LIVING.add(self._run)
        self.destroyed.connect(partial(_LIVING.discard, self._run))
        self._lost = ""  #: what a draft that is here again has lost, translated
        self._left = kept_draft(context.memory.get(context.own(DRAFT), None), _LIVING) if not prefill else {}
        self._closed: tuple[object, ...] = ()
        self.templates = Templates(context.memory, self)
        self._build()
        self._connect()
        on_language_changed(self._say)
        self._lookup.ask()
        self._say()

    # the draft

    def draft(self) -> Draft:
        """Everything as it stands now."""
        return self._form.draft()

    def resume(self, prefill: Mapping[str, object] | None = None) -> None:
        """Go on with the draft, or with what another page filled in."""
        if prefill:
            self._prefill, self._left = from_prefill(prefill), {}
        self._lookup.ask()

    def set_acting(self, reason: str) -> None:
        """Create nothing from now on, for this reason, already translated; "" allows it again."""
        self.verbs.barred = reason
        self._say()

    def take_file(self, path: Path, note: str = "") -> None:
        """Go on with the rows of a file, as if it had been dropped here; ``note``: what there is to tell of that."""
        self._tell_dropped(note)
        self.shops.set_mode(FILE)
        self.shops.picker.file.open(path)

    def _tell_dropped(self, note: str) -> None:
        """``note``: what there is to tell of it; what was told of the drop before is over."""
        self.notice.take_back(self._of_drop)
        self._of_drop = note
        if note:
            self.notice.tell(note)

    def start_over(self) -> None:
        """Throw the draft away."""
        self._leave_draft()
        self._form.start_over()
        self._forget_draft()
        self._work.forget()
        self._forget_rows()
        for notice in (self.forecast.twins, self.forecast.done):
            notice.reason.clear()
        self._pages.setCurrentWidget(self._form)
        self._say()

    def _leave_draft(self) -> None:
        """Another one comes: what is on its way is about the one before."""
        self._revealing.drop()
        self._lookup.check_no_more()

    def _keep_draft(self) -> None:
        """For the next start: this program may end before the tasks are created, and not by anybody's will."""
        self._keep_soon.cancel()
        fields = self._draft_fields()
        if (self._form.begun() or fields["file"]) and fields != self._made:
            if fields != self._kept:
                self._kept = fields
                self._context.memory.put(self._context.own(DRAFT), fields)
        else:
            self._forget_draft()

    def _draft_fields(self) -> dict[str, Any]:
        wish = self._work.wish
        file = {} if wish is None or wish.path is None else kept_file(wish)
        return {**self._form.draft_fields(), "file": file, "run": self._run}

    def _forget_draft(self) -> None:
        """That of this dialog: another window may have one as well."""
        self._keep_soon.cancel()
        if self._kept and self._context.memory.get(self._context.own(DRAFT), None) == self._kept:
            self._context.memory.put(self._context.own(DRAFT), {})
        self._kept = {}

    def _go_on_with_draft(self) -> None:
        left, self._left = self._left, {}
        self._kept = left  # it is this dialog's now: created or discarded here, it is gone
        self._leave_draft()
        self._form.resume(left, self._known, _("The draft of before"))
        wish = file_of(left.get("file"))
        edited = wish is not None and wish.edited
        lost = self._lost = _("What was changed in the cells of its file was not kept.") if edited else ""
        back = _("The draft that was neither created nor discarded is here again.")
        self.notice.tell(text.sentences([back, lost]))
        if wish is not None:
            self._ask_rows(replace(wish, edited=False))

    def _build(self) -> None:
        self._form = NewTaskForm()
        self.what, self.shops = self._form.what, self._form.shops
        self.parameters, self.delivery = self._form.parameters, self._form.delivery
        self.forecast, self.outcome, self.error = Forecast(), Created(), ErrorStrip()
        self.notice = DoneStrip()
        self.sheet = SheetStep()
        self._forget_rows()
        self._pages = stacked(self._form, self.sheet, self.outcome)
        row = in_row((self._pages, 1), self.forecast, spacing=0)
        self.fill(self.error, row, self.notice, size=SIZE, least=LEAST)
        self.from_template = Button(N_("From template"), icon="ph.bookmark-simple", small=True)
        menu = QMenu(self)
        menu.aboutToShow.connect(partial(self.templates.fill, menu))
        self.from_template.set_menu(menu)
        self.add_to_head(self.from_template)
        self.verbs = NewTaskFoot(self.foot)

    def _connect(self) -> None:
        self._pages.currentChanged.connect(self._on_page)
        self.finished.connect(self._keep_draft)
        # the form
        self._form.changed.connect(self._on_changed)
        self.parameters.reveal_button.clicked.connect(self._on_reveal)
        self.forecast.fate_chosen.connect(self._on_fate)
        self.forecast.reason_changed.connect(self._on_reason)
        self.forecast.show_twins.connect(self._on_show_twins)
        self.forecast.done.show_wanted.connect(self._on_show_did)
        self.forecast.done.again_chosen.connect(self._on_again)
        self.forecast.done.reason_changed.connect(self._on_why)
        self._context.feed.looked.connect(self._on_looked)
        # a file
        file = self.shops.picker.file
        file.chosen.connect(self._on_file)
        file.look_wanted.connect(self._look_at_rows)
        file.blank_wanted.connect(self._on_blank)
        file.pasted.connect(self._on_pasted)
        self.sheet.pasted.connect(self._on_pasted)
        self.sheet.copy.clicked.connect(lambda: self.notice.tell(_("Copied")))
        self.sheet.table_changed.connect(self._on_cells)
        self.sheet.file_wanted.connect(file.ask)
        self.sheet.column_chosen.connect(self._on_column)
        self.sheet.reading_chosen.connect(self._on_reading)
        self.sheet.defaults_wanted.connect(self._on_back)
        self.sheet.export_wanted.connect(self._on_export)
        self.sheet.fate_chosen.connect(self._on_rows_fate)
        self._work.barred.connect(self.sheet.show_barred)
        self.sheet.active_wanted.connect(self._on_show_active)
        self.sheet.again_chosen.connect(self._on_rows_again)
        self.sheet.reason_changed.connect(self._on_rows_reason)
        self.sheet.done_wanted.connect(self._on_show_done)
        self._work.done.connect(self._on_rows)
        self._work.failed.connect(self._on_no_rows)
        # the foot
        self.verbs.discard.clicked.connect(self._on_discard)
        self.verbs.copy.clicked.connect(self._on_copy)
        self.verbs.keep.clicked.connect(lambda: self.templates.ask_name(self._form.fields()))
        self.templates.picked.connect(self._on_template)
        self.templates.told.connect(self.notice.tell)
        self.shops.picker.file_dropped.connect(self._tell_dropped)
        self.delivery.after.search_wanted.connect(self._lookup.find)
        self._lookup.found.connect(self.delivery.after.show_found)
        self._creator.planned.connect(self._on_planned)
        self.verbs.cancel.clicked.connect(self.reject)
        self.verbs.back.clicked.connect(self._on_back)
        self.verbs.create.clicked.connect(self._on_create)
        self.verbs.part.clicked.connect(self._on_part)
        # the result
        self.outcome.watch_wanted.connect(self._watch)
        self.outcome.queue_wanted.connect(self._queue_one)
        self.outcome.force_wanted.connect(self._force_one)
        # asking and creating
        self._lookup.known.connect(self._take)
        self._lookup.unknown.connect(self._on_unknown)
        self._lookup.checked.connect(self._take_twins)
        self._lookup.measured.connect(self._take_usual)
        self._creator.done.connect(self._done)
        self._creator.settled.connect(self.outcome.settle)
        self._creator.failed.connect(self._failed)
        self._creator.tasks_wanted.connect(self.tasks_wanted)
        self.error.retry.connect(self.resume)
        Shortcut("parts.next_error", self, self._on_next_problem)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the type."""
        super().showEvent(event)
        self.what.types.setFocus()

    # what there is

    def _take(self, known: Known) -> None:
        self.error.clear()
        self._known = known
        wish, self._prefill = self._prefill, None
        self._form.show_choices(known)
        if self._left:
            self._go_on_with_draft()
        elif wish is not None:
            self._leave_draft()
            self._form.fill(wish, known.shops)
        self._form.on_type()

    def _on_unknown(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("Shops and task types could not be read."))

    def _on_looked(self) -> None:
        if not self.isVisible():
            return
        self._look()
        latest = self._context.feed.latest
        closed = (latest.pauses, latest.sessions, bool(latest.workers), latest.broker.connected)
        if closed != self._closed:  # what could not start may start now, and the other way about
            self._closed = closed
            self._check_soon()
            self._ask_starts()

    def _ask_starts(self) -> None:
        if self.sheet.orders is not None and self._pages.currentWidget() is self.sheet:
            self._work.ask_starts(self.sheet.orders)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a small screen the form needs the room more than what is said beside it."""
        for side in (self.forecast, self.sheet.summary):
            side.setFixedWidth(WIDTH if event.size().width() >= LEAST[0] else NARROW)
        super().resizeEvent(event)

    def _on_page(self, _place: int) -> None:
        self.ask_size(WIDE if self._pages.currentWidget() is self.sheet else SIZE)

    # slots of the form

    def _on_changed(self) -> None:
        self._check_soon()
        self._keep_soon()
        self._say()

    def _on_fate(self, fate: str) -> None:
        self._form.fate = fate
        self._say()
        if fate == FORCE:
            self.forecast.twins.reason.setFocus()

    def _on_reason(self, reason: str) -> None:
        self._form.reason = reason
        self._say()

    def _on_again(self, again: bool) -> None:
        self._form.again = again
        self._say()

    def _on_why(self, why: str) -> None:
        self._form.why = why
        self._say()

    def _on_show_did(self) -> None:
        found = self._form.twins
        self._watch(*[found.done[shop].task_id for shop in self.draft().asked if shop in found.done][:SHOWN])

    def _on_show_twins(self) -> None:
        self._watch(*[task.task_id for task in self._form.twins.by_shop.values()][:SHOWN])

    def _on_reveal(self) -> None:
        call = partial(self._context.commands.records.reveal, f"new task: {self.draft().task_type}")
        self._revealing.start(call, lambda _none: self.parameters.reveal(), self._on_no_reveal)

    def _on_no_reveal(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("The secrets are not shown."))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(pretty(self.draft().message()))
        self.notice.tell(_("Copied"))

    def _on_template(self, name: str, fields: Mapping[str, Any]) -> None:
        self._pages.setCurrentWidget(self._form)
        self._leave_draft()
        self._form.refill(fields, self._known, _("Template {name}").format(name=_short(name)))
        self._form.verticalScrollBar().setValue(0)
        self._on_changed()

    def _on_discard(self) -> None:
        self.start_over()
        self.reject()

    def _on_next_problem(self) -> None:
        if self._pages.currentWidget() is self.sheet:
            self.sheet.grid.next_error()
        else:
            self._form.next_problem()

    # a file

    def _on_file(self, path: Path) -> None:
        self._forget_rows()
        self._work.forget()
        self._ask_rows(SheetRequest(path=path))

    def _on_blank(self) -> None:
        """A table without rows: what each column says is settled beforehand."""
        self._forget_rows()
        self._work.forget()
        titles = [field_word(target) for target in BLANK]
        read = table.empty(_("Empty table"), titles, BLANK_ROWS)
        mapped = tuple(Column(at=at, title=titles[at], target=target) for at, target in enumerate(BLANK))
        self._ask_rows(SheetRequest(read=read, mapped=mapped))

    def _on_pasted(self, words: str) -> None:
        self._forget_rows()
        self._work.forget()
        self._work.paste(words, self.draft())
        self._say()

    def _on_cells(self, changed: Table, _numbers: frozenset[int]) -> None:
        wish = self._work.wish
        if wish is not None:
            self._ask_rows(replace(wish, read=changed, edited=True))

    def _forget_rows(self) -> None:
        """Nothing is decided yet about the rows of a file."""
        self._found, self._rows_fate, self._rows_again = False, REJECT, False
        self.sheet.start_over()
        self.sheet.summary.done.reason.clear()

    def _ask_rows(self, wish: SheetRequest) -> None:
        self.error.clear()
        self._work.ask(wish, self.draft())
        self._say()

    def _look_at_rows(self) -> None:
        """The rows again, with what the dialog says by now."""
        wish = self._work.wish
        if wish is None:
            self.shops.picker.file.ask()
        else:
            self._ask_rows(wish)

    def _on_column(self, at: int, target: str) -> None:
        wish = self._work.wish
        if wish is not None:
            mapped = columns.choose(wish.mapped, at, target)
            self._work.remember(mapped)
            self._ask_rows(replace(wish, mapped=mapped))

    def _on_reading(self, encoding: str, sheet: str) -> None:
        wish = self._work.wish
        if wish is not None:
            self._ask_rows(SheetRequest(path=wish.path, encoding=encoding, sheet=sheet))

    def _on_rows(self, found: Orders) -> None:
        self._found = True
        self._keep_soon()
        if self._work.is_other:
            changed = _("{file} was changed since it was read for the draft.").format(file=found.table.name)
            self.notice.tell(text.sentences([changed, self._lost]))
        self.shops.set_mode(FILE)
        self._show_rows(found)
        fresh = self._pages.currentWidget() is not self.sheet
        self._pages.setCurrentWidget(self.sheet)
        if fresh and self.sheet.model.rowCount():
            self.sheet.grid.go_to(0, 1)
        self._ask_starts()
        self._say()

    def _show_rows(self, found: Orders) -> None:
        fate = QUEUE if self._rows_fate == QUEUE else REJECT
        if (found.fate, found.reason) != (fate, self._reason_of_rows()):
            found = found.decided(fate=fate, reason=self._reason_of_rows())
        self.sheet.show_orders(found, self._known.types, self.draft(), self._rows_fate, again=self._rows_again)

    def _on_rows_fate(self, fate: str) -> None:
        self._rows_fate = fate
        if self.sheet.orders is not None:
            self._show_rows(self.sheet.orders)
        self._say()

    def _on_rows_again(self, again: bool) -> None:
        self._rows_again = again
        self._on_rows_fate(self._rows_fate)

    def _on_rows_reason(self) -> None:
        """Only with its first letter and its last one other rows become tasks."""
        found = self.sheet.orders
        if found is not None and bool(found.reason.strip()) != bool(self._reason_of_rows().strip()):
            self._on_rows_fate(self._rows_fate)

    def _reason_of_rows(self) -> str:
        return self.sheet.summary.done.reason.text() if self._rows_again else ""

    def _on_show_done(self) -> None:
        if self.sheet.orders is not None:
            self._watch(*[one.done.task_id for one in self.sheet.orders.again[:SHOWN] if not ledger.unread(one.done)])

    def _on_show_active(self) -> None:
        if self.sheet.orders is not None:
            self._watch(*[one.task_id for one in self.sheet.orders.active[:SHOWN]])

    def _on_no_rows(self, error: BaseException) -> None:
        if self._pages.currentWidget() is self.sheet and self._work.wish is not None:
            self.error.show_error(told(error), lead=_("The file could not be read."))
            self.sheet.say()
        else:  # rows that are shown are of the file before, which nobody wants any more
            self._found = False
            self._pages.setCurrentWidget(self._form)
            self.shops.set_mode(FILE)
            self.shops.picker.file.show_error(told(error))
        self._say()

    def _on_export(self, path: Path) -> None:
        if self.sheet.orders is not None:
            told_here = partial(self._on_exported, path)
            self._work.export(path, self.sheet.orders.left_out, told_here, self._on_unwritten)

    def _on_exported(self, path: Path, number: int) -> None:
        self.notice.tell(_written(path, number))

    def _on_unwritten(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("The file could not be written."))

    def _on_part(self) -> None:
        """Send the good rows; before that the bad ones are safe in a file, or nothing is sent."""
        found = self.sheet.orders
        if found is None or self._work.busy or not self._sendable():
            return
        forms = [_("Tables") + " (*.xlsx *.csv)"]
        FileDialog(self, _("Keep the rows with errors"), self.send_good, forms=forms).write("rows-with-errors.xlsx")

    def send_good(self, path: Path) -> None:
        """Keep the rows with errors in a file, then create the tasks of the others."""
        found = self.sheet.orders
        if found is not None:
            self._work.keep(path, found, partial(self._on_kept, path, found), self._on_unwritten)

    def _on_kept(self, path: Path, of: Orders, number: int) -> None:
        self._context.toast(ToastSpec(text=_written(path, number)))  # the tasks follow, and the dialog closes
        found = self.sheet.orders
        # else those with errors of what stands there now are not kept
        if found is not None and found.table is of.table and found.faults == of.faults:
            self._create_rows(part=True)

    def _create_rows(self, *, part: bool = False) -> None:
        found = self.sheet.orders
        if found is not None and found.going and not self._work.busy and (part or not found.bad_rows):
            wanted = SheetDraft(orders=found.decided(fate=found.fate, reason=self._reason_of_rows()))
            self._creator.create(wanted, wanted.number, self)
            self._say()

    def _on_back(self) -> None:
        self._pages.setCurrentWidget(self._form)
        self._check_twins()
        self._say()

    # duplicates

    def _check_twins(self) -> None:
        self._check_soon.cancel()
        draft, kind = self.draft(), self.what.kind()
        if kind is None or not draft.shops or self.parameters.problems():
            self._lookup.check_no_more()
            self._take_twins(Twins())
            return
        self._lookup.check(kind, draft)
        self._say()

    def _take_twins(self, twins: Twins) -> None:
        self._form.show_twins(twins)
        self._say()

    # creating

    def _on_create(self) -> None:
        if self._pages.currentWidget() is self.sheet:
            self._create_rows()
            return
        if self._pages.currentWidget() is not self._form or self._form.blocked():
            return
        if self._form.unfilled():
            self._form.insist()
            return
        if self.shops.of_file():
            self._look_at_rows()
            return
        draft = self.draft()
        if (often := self.delivery.repeats()) is not None:
            self._ask_plan(draft, *often)
            return
        self._creator.create(draft, draft.number, self)
        self._say()

    def _ask_plan(self, draft: Draft, cron: str, every_s: int) -> None:
        """What repeats is a schedule, and has a name."""
        note = _("A schedule of this name is made for the ticked shops; change it later under Schedules.")
        dialog = NameDialog(N_("Name the schedule"), draft.task_type, note, self)
        dialog.named.connect(lambda name: self._creator.plan(draft.schedule(name, cron, every_s)))
        dialog.open()

    def _on_planned(self, _name: str) -> None:
        self.start_over()
        self.accept()

    def _done(self, result: Submitted) -> None:
        if result.created:
            self._made = self._draft_fields()
            self._forget_draft()
        self.created.emit(result)
        left_out = result.duplicates or result.done
        if result.errors and not result.created and not left_out and self._form.tell_refusals(result.errors):
            self._say()
        elif result.errors or left_out:
            self.outcome.show_result(result)
            self._pages.setCurrentWidget(self.outcome)
            self._say()
        else:
            self.start_over()
            self.accept()

    def _failed(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("Nothing was created."))
        self._say()

    def _watch(self, *task_ids: str) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", *task_ids),)))
        self.hide()

    def _queue_one(self, spec: TaskSpec) -> None:
        self._creator.create_one(spec, if_duplicate=QUEUE)

    def _force_one(self, spec: TaskSpec, reason: str) -> None:
        self._creator.create_one(spec, if_duplicate=FORCE, reason=reason)

    # words

    def _say(self) -> None:
        tag = environment.tag(self._context.environment)
        self.set_note(" · ".join(part for part in (self._context.title, tag) if part))
        on_form = self._pages.currentWidget() is self._form
        if self._pages.currentWidget() is self.sheet or (on_form and self.shops.of_file()):
            self._say_file(on_form=on_form)
            return
        draft, blocked = self.draft(), self._form.blocked()
        self.shops.say(self._known.number)
        self.forecast.show_draft(
            draft,
            self._form.twins.among(draft.shops),
            self._known.shops,
            checking=self._lookup.checking,
            errors=blocked if self._form.wrong else "",
            hint=self._form.hint(),
        )
        self._show_outlook()
        self.forecast.setVisible(on_form)
        self.verbs.show_state(
            on_form=on_form,
            number=draft.number,
            blocked=blocked,
            unfilled=self._form.unfilled(),
            wrong=self._form.wrong,
            busy=self._creator.busy,
            planned=self.delivery.repeats() is not None,
        )

    def _say_file(self, *, on_form: bool) -> None:
        found = self.sheet.orders if self._found else None
        self.shops.say(self._known.number)
        self.forecast.setVisible(False)
        rows = found.total if found is not None else 0
        number = len(found.going) if found is not None else 0
        blocked = _("Looking at the rows") if self._work.busy else self._form.blocked()
        if not on_form and not blocked and found is not None:
            blocked = self._why_no_rows(found)
        if found is not None:
            name = ngettext("{file}: {n} row", "{file}: {n} rows", rows)
            self.shops.picker.file.show_file(name.format(file=found.table.name, n=text.count(rows)))
        self.verbs.show_file(
            of_step=not on_form,
            number=number,
            left_out=self.sheet.left_out(),
            bad=found.bad_rows if found is not None else 0,
            rows=rows,
            blocked=blocked,
            busy=self._creator.busy,
        )

    def _why_no_rows(self, found: Orders) -> str:
        """Why none of the good rows can be sent, "" where nothing is in the way."""
        if found.active and self._rows_fate == STOP:
            return _("Nothing is created while rows are active already")
        if found.again and self._rows_again and not found.reason.strip():
            return _("Say why what was done already must be done again")
        if found.going:
            return ""
        if not found.total:
            return _("Paste or type rows first")
        if found.bad_rows:
            return _("No row can become a task")
        return none_left(active=bool(found.active), done=bool(found.again))

    def _sendable(self) -> bool:
        found = self.sheet.orders
        return found is not None and not self._why_no_rows(found) and not self._form.blocked()

    def _show_outlook(self) -> None:
        kind = self.what.kind()
        if kind is not None and kind.name not in self._usual:
            self._usual[kind.name] = durations.declared(kind.expected_s)
            self._lookup.measure(kind.name)
        usual = self._usual[kind.name] if kind is not None else durations.NOTHING
        draft, latest = self.draft(), self._context.feed.latest
        before = self._form.twins.among(draft.shops).before(instant.now_ms())
        first = self.delivery.first_run()
        self.forecast.show_outlook(draft, kind, self._known.shops, latest, usual, before, first)

    def _take_usual(self, task_type: str, usual: Runs) -> None:
        self._usual[task_type] = usual
        self._show_outlook()


class Templates(QObject):
    """Forms that a person has kept under a name: picked, renamed, removed; no secret is kept with them.

    Signals:
    picked: the name of a template, and its fields as they were kept.
    told: what was done, in a sentence, and what takes it back, if anything does.
    """

    picked = Signal(str, object)
    told = Signal(str, object)

    def __init__(self, memory: Memory, owner: QWidget) -> None:
        super().__init__(owner)
        self._memory, self._owner = memory, owner

    def all(self) -> dict[str, dict[str, Any]]:
        """The fields of each by name, in the order of their names."""
        kept = self._memory.get(KEY, {})
        found = kept if isinstance(kept, dict) else {}
        return {name: found[name] for name in sorted(found) if isinstance(found[name], dict)}

    def keep(self, name: str, fields: dict[str, Any]) -> None:
        """Keep a form, in the place of one of this name."""
        before = self.all().get(name)
        self._put({**self.all(), name: fields})
        if before is None:
            self.told.emit(_("Template {name} is kept: under From template").format(name=_short(name)), None)
        else:
            words = _("Template {name} is replaced").format(name=_short(name))
            self.told.emit(words, partial(self._restore, name, before))

    def rename(self, name: str, new: str) -> None:
        """Give one another name, unless another has it."""
        found = self.all()
        if name in found and new not in found:
            fields = found.pop(name)
            self._put({**found, new: fields})
            words = _("Template {name} is called {new} now").format(name=_short(name), new=_short(new))
            self.told.emit(words, None)

    def remove(self, name: str) -> None:
        """Forget one."""
        found = self.all()
        fields = found.pop(name, None)
        if fields is not None:
            self._put(found)
            words = _("Template {name} is removed").format(name=_short(name))
            self.told.emit(words, partial(self._restore, name, fields))

    def ask_name(self, fields: dict[str, Any]) -> NameDialog:
        """Ask under which name a form is kept."""
        note = _("Kept on this computer, for you. Secrets are left out; a name that is there already is replaced.")
        dialog = NameDialog(N_("Save as template"), "", note, self._owner, why_not=self._why_no_more)
        dialog.named.connect(lambda named: self.keep(named, fields))
        dialog.open()
        return dialog

    def fill(self, menu: QMenu) -> None:
        """Offer them: picked, renamed, removed."""
        menu.clear()
        found = self.all()
        for name, fields in found.items():
            picked = partial(self.picked.emit, name, fields)
            menu.addAction(_plain(name)).triggered.connect(lambda _on=False, picked=picked: picked())
        if not found:
            menu.addAction(_("No template yet: fill the form in and save it")).setEnabled(False)
            return
        menu.addSeparator()
        renaming, removing = menu.addMenu(_("Rename")), menu.addMenu(_("Remove"))
        for name in found:
            renaming.addAction(_plain(name)).triggered.connect(lambda _on=False, name=name: self._ask_new_name(name))
            removing.addAction(_plain(name)).triggered.connect(lambda _on=False, name=name: self.remove(name))

    def _ask_new_name(self, name: str) -> None:
        taken = _("Another template has this name")
        others = self.all().keys() - {name}
        dialog = NameDialog(
            N_("Rename a template"), name, parent=self._owner, why_not=lambda new: taken if new in others else ""
        )
        dialog.named.connect(lambda new: self.rename(name, new))
        dialog.open()

    def _why_no_more(self, name: str) -> str:
        found = self.all()
        full = name not in found and len(found) >= MOST
        return _("{n} templates are kept already: remove one first").format(n=text.count(MOST)) if full else ""

    def _restore(self, name: str, fields: dict[str, Any]) -> None:
        self._put({**self.all(), name: fields})

    def _put(self, found: dict[str, dict[str, Any]]) -> None:
        self._memory.put(KEY, found)


def _written(path: Path, number: int) -> str:
    words = ngettext("{n} row written to {file}", "{n} rows written to {file}", number)
    return words.format(n=text.count(number), file=path.name)


def _short(name: str) -> str:
    return safe.one_line(name, 60)


def _plain(name: str) -> str:
    return _short(name).replace("&", "&&")
