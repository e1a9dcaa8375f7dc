"""A file of tasks before they are created: its rows in a grid, what each column says, each error corrected in place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from services import called
from services.commands.sheet.columns import TYPE
from services.commands.sheet.orders import Defaults, Fault, Orders, first_of
from services.commands.sheet.table import Table
from services.commands.sheet.text_file import ENCODINGS, Text, records
from services.domain.errors import UsageError
from services.domain.gates import listed
from services.domain.task import ledger
from services.domain.text.message import Message
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext, pgettext
from services.messages import told
from views.dialogs.file import FileDialog
from views.dialogs.new_task.draft import QUEUE, REJECT, STOP, Draft
from views.dialogs.new_task.side import SideColumn, tasks
from views.dialogs.new_task.twin_notice import DoneNotice, TwinNotice
from views.dialogs.new_task.twins import after_facts, standing
from views.dialogs.notice import Notice
from views.dialogs.sheet.columns import SheetColumns
from views.dialogs.sheet.grid import SheetGrid
from views.dialogs.sheet.model import ALL as ALL_ROWS
from views.dialogs.sheet.model import BARRED, ERRORS, SheetModel
from views.dialogs.sheet.work import left_out_text
from views.support import safe, shown, text
from views.support.language import say_in_language
from views.support.look import Label, line, panel
from views.support.words import origins, type_names
from views.theme.tokens import LANES
from views.widgets.buttons import Button, LinkLabel
from views.widgets.elided import Elided
from views.widgets.fields import ChoiceField
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.strip import Strip

MOST_UNDONE = 99
#: px at most for the name of a sheet or an encoding
READING = 240
ONLY_THESE = N_("Show only these rows")
RUNS_NAMED = 6  #: runs of rows that are active already; all of those rows stand in the list of what is left out


class SheetStep(QWidget):
    """Signals:
    column_chosen: place of a column, and what it says.
    table_changed: the ``Table`` with other words in its cells, and the numbers of the rows that changed.
    pasted: a text of the clipboard that is a table of its own, for one that holds nothing yet.
    reading_chosen: another encoding or sheet, as (encoding, sheet).
    file_wanted: choose another file.
    export_wanted: the path that the list of what is left out goes to.
    defaults_wanted: change what counts where a row says nothing.
    fate_chosen: what becomes of rows that are active already: ``reject``, ``queue`` or ``stop``.
    active_wanted: list the tasks that do the work of rows already.
    again_chosen: whether rows are created whose work was done so lately that a reason is asked for.
    reason_changed: that reason.
    done_wanted: list the tasks that did the work of such rows.
    """

    column_chosen = Signal(int, str)
    table_changed = Signal(object, object)
    pasted = Signal(str)
    reading_chosen = Signal(str, str)
    file_wanted = Signal()
    export_wanted = Signal(object)
    defaults_wanted = Signal()
    fate_chosen = Signal(str)
    active_wanted = Signal()
    again_chosen = Signal(bool)
    reason_changed = Signal(str)
    done_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._orders: Orders | None = None
        self._types: Mapping[str, TaskType] = {}
        self._kind = ""  #: type of the dialog, for rows that name none
        self._name, self._found = Elided("", "strong"), Elided("", "label", "text3")
        self._reading_title, self.reading = Label("", "label", "text2"), ChoiceField()
        self.other = Button(N_("Another file"), icon="ph.file-text", small=True)
        self.ignored = Strip("warning")
        self.model = SheetModel(self)
        self.grid = SheetGrid(self.model)
        self.columns = SheetColumns(self.grid)
        self.counts = Elided("", "card")
        self.only_errors = QCheckBox()
        self.next = Button(N_("Next error"), icon="ph.arrow-down", hint="parts.next_error", small=True)
        self.undo = Button(N_("Undo"), icon="ph.arrow-counter-clockwise", small=True)
        self.copy = Button(N_("Copy"), icon="ph.copy", small=True)
        self.export = Button(N_("Export"), icon="ph.export", small=True)
        self.why, self._remedies = (
            Elided("", "label", "text2"),
            [LinkLabel(N_("Use what was meant")), LinkLabel(N_("Use it in all cells"))],
        )
        self.first = LinkLabel(N_("Go to that row"))
        self._history: list[Table] = []
        self.summary = SheetSummary()
        self._put_together()
        self.reading.activated.connect(self._on_reading)
        self.other.clicked.connect(self.file_wanted)
        self.columns.chosen.connect(self.column_chosen)
        self.model.written.connect(self._on_written)
        self.grid.pasted.connect(self._on_pasted)
        self.grid.undo_wanted.connect(self.take_back)
        self.grid.moved.connect(self._say_cell)
        self.model.dataChanged.connect(self._say_cell)
        self.only_errors.clicked.connect(lambda only: self._show_only(ERRORS if only else ALL_ROWS))
        self.summary.barred_link.activated.connect(self._on_barred)
        self.next.clicked.connect(self.grid.next_error)
        self.undo.clicked.connect(self.take_back)
        for at, link in enumerate(self._remedies):
            link.activated.connect(partial(self._on_remedy, at))
        self.first.activated.connect(self._on_first)
        self.summary.repeats.row_wanted.connect(self._go_to_row)
        self.copy.clicked.connect(self._on_copy)
        self.export.clicked.connect(self._on_export)
        self.summary.change.activated.connect(self.defaults_wanted)
        self.summary.twins.fate_chosen.connect(self.fate_chosen)
        self.summary.twins.show_wanted.connect(self.active_wanted)
        self.summary.done.again_chosen.connect(self.again_chosen)
        self.summary.done.reason_changed.connect(self.reason_changed)
        self.summary.done.show_wanted.connect(self.done_wanted)
        say_in_language(self.say)

    def _put_together(self) -> None:
        head = in_row(self._name, (self._found, 1), spacing=10)
        # one file has sheets, the next an encoding: what was as wide as the first cuts the second
        self.reading.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.reading.setMaximumWidth(READING)
        put(head, self._reading_title, self.reading, self.other)
        bar = in_row(self.counts, STRETCH, spacing=8)
        for button in (self.only_errors, self.next, self.undo, self.copy, self.export):
            kept = button.sizePolicy()
            kept.setRetainSizeWhenHidden(True)  # one that comes moves none of the others
            button.setSizePolicy(kept)
            bar.addWidget(button)
        box = panel("code")
        rows = in_column(self.columns, (self.grid, 1), line(), owner=box, margins=(1, 1, 1, 1), spacing=0)
        rows.addLayout(in_row((self.why, 1), *self._remedies, self.first, margins=(10, 5, 10, 5), spacing=12))
        column = in_column(head, bar, (box, 1), self.ignored, margins=(20, 14, 20, 14), spacing=10)
        in_row((column, 1), self.summary, owner=self, spacing=0)

    def show_orders(
        self,
        found: Orders,
        types: Mapping[str, TaskType],
        draft: Draft,
        fate: str = REJECT,
        *,
        again: bool = False,
    ) -> None:
        """Show what a file asks for; ``fate`` is what becomes of the rows that are active already, ``again`` whether
        those that were done so lately are done once more.
        """
        self._orders, self._types, self._kind = found, types, draft.task_type
        self.summary.show_orders(found, draft, fate, again=again)
        self.model.show_orders(found)
        if not found.bad_rows and self.model.only == ERRORS:
            self._show_only(ALL_ROWS)
        self.say()

    def show_barred(self, barred: Mapping[int, str]) -> None:
        """Say of which rows the tasks could not start now, by number, and the gates that would keep them."""
        self.model.set_barred(barred)
        self.summary.show_barred(barred)
        if not self.summary.barred.isVisibleTo(self) and self.model.only == BARRED:
            self._show_only(ALL_ROWS)
        self._say_cell()

    def start_over(self) -> None:
        """Another file: nothing was changed in it."""
        self._history.clear()
        self.show_barred({})
        self._show_only(ALL_ROWS)

    @property
    def orders(self) -> Orders | None:
        """What is shown."""
        return self._orders

    def left_out(self) -> int:
        """Rows that become no task."""
        found = self._orders
        if found is None:
            return 0
        active = len(found.active) if found.fate == REJECT else 0
        return found.bad_rows + len(found.twins) + active + (0 if found.reason.strip() else len(found.again))

    def take_back(self) -> None:
        """Undo the last change of cells."""
        if self._history and self._orders is not None:
            self.table_changed.emit(self._history.pop(), frozenset())

    # slots

    def _on_written(self, words: Mapping[tuple[int, int], str]) -> None:
        if self._orders is None:
            return
        before = self._orders.table
        try:
            table = before.with_cells(words)
        except UsageError as exc:
            self.why.show_text(told(exc))
            return
        numbers = frozenset(number for number, _at in words)
        self._history = [*self._history[-MOST_UNDONE:], before]
        self.model.set_looking(numbers)
        self.table_changed.emit(table, numbers)

    def _on_pasted(self, words: str) -> None:
        if not words.strip() or self._orders is None:
            return
        if not self._orders.total:
            self.pasted.emit(words)
            return
        rows = [row for row in records(Text.of(words.rstrip("\r\n")), "\t") if not isinstance(row, Message)]
        first, left = self.grid.place()
        numbers = self.model.numbers_from(first, len(rows))
        if len(numbers) < len(rows):
            self.why.show_text(_("More is pasted than rows are shown. Show all rows first."))
            return
        pairs = zip(numbers, rows, strict=True)
        self._on_written({(at, left + right): str(word) for at, row in pairs for right, word in enumerate(row)})

    def _show_only(self, which: str) -> None:
        if which != self.model.only:
            self.model.set_only(which)
            self.only_errors.setChecked(which == ERRORS)
            self.summary.show_only(alone=which == BARRED)
            self._say_cell()

    def _on_barred(self) -> None:
        self._show_only(ALL_ROWS if self.model.only == BARRED else BARRED)

    def _on_remedy(self, at: int) -> None:
        here = self.grid.currentIndex()
        found = self.grid.remedies(here.row(), here.column()) if here.isValid() else []
        if at < len(found):
            _words, cells, value = found[at]
            self.grid.write(dict.fromkeys(cells, value))
            self.grid.setFocus()

    def _repeated(self) -> Fault | None:
        """Of a row that repeats another one: which."""
        at = self.grid.currentIndex()
        if not at.isValid() or at.row() >= self.model.rowCount() or self._orders is None:
            return None
        number = self.model.number(at.row())
        return next((one for one in self._orders.twins if one.row == number), None)

    def _on_first(self) -> None:
        if (repeated := self._repeated()) is not None:
            self._go_to_row(first_of(repeated))

    def _go_to_row(self, number: int) -> None:
        if self.model.row_of(number) < 0:
            self._show_only(ALL_ROWS)  # it is none of those
        if (at := self.model.row_of(number)) >= 0:
            self.grid.go_to(at, 1)

    def _say_cell(self) -> None:
        """Why the cell at the cursor is not good, and what was probably meant."""
        at = self.grid.currentIndex()
        there = at.isValid() and at.row() < self.model.rowCount()
        self.why.show_text(self.model.why(at.row(), at.column()) if there else "")
        bad = there and bool(self.model.faults(at.row()))
        self.why.set_tone("dead" if bad else "text3")
        found = self.grid.remedies(at.row(), at.column()) if there else []
        for place, link in enumerate(self._remedies):
            link.setVisible(place < len(found))
            if place < len(found):
                link.set_count_text(found[place][0])
        self.first.setVisible(self._repeated() is not None)

    def _on_reading(self) -> None:
        word = str(self.reading.currentData() or "")
        if self._orders is not None and self._orders.table.sheet:
            self.reading_chosen.emit("", word)
        else:
            self.reading_chosen.emit(word, "")

    def _on_copy(self) -> None:
        if self._orders is not None:
            QGuiApplication.clipboard().setText(left_out_text(self._orders.left_out))

    def _on_export(self) -> None:
        forms = [_("Tables") + " (*.csv)"]
        FileDialog(self, _("Export rows left out"), self.export_wanted.emit, forms=forms).write("left-out.csv")

    # words

    def say(self) -> None:
        """Say it in the present language."""
        found = self._orders
        self.reading.setAccessibleName(_("Encoding"))
        self.only_errors.setText(_("Only errors"))
        if found is None:
            return
        read = found.table
        self._name.show_text(safe.one_line(read.name, 60))
        rows = ngettext("{n} row", "{n} rows", found.total).format(n=text.count(found.total))
        parts = [rows]
        if read.above:
            above = ngettext(
                "{n} line above the header is not read", "{n} lines above the header are not read", read.above
            )
            parts.append(above.format(n=read.above))
        if read.empty:
            parts.append(ngettext("{n} is empty", "{n} are empty", read.empty).format(n=text.count(read.empty)))
        self._found.show_text(text.listed(parts))
        self._reading_title.setText(_("Sheet") if read.sheet else _("Encoding"))
        self._fill_reading()
        # where no row goes, those would be offered that no row is about
        meant = found.types or (() if TYPE in found.mapping.values() else (self._kind,))
        kinds = [self._types[name] for name in meant if name in self._types]
        every = kinds or list(self._types.values())
        self.columns.show_columns(found.columns, every)
        words = text.listed([safe.one_line(one.title, 40) for one in found.ignored])
        number = len(found.ignored)
        lead = ngettext("{n} column is not used:", "{n} columns are not used:", number).format(n=number)
        self.ignored.show_text(words, lead)
        self.ignored.setVisible(bool(words))
        self._say_counts(found)
        self._say_cell()
        self.summary.say()

    def _say_counts(self, found: Orders) -> None:
        out, bad = self.left_out(), found.bad_rows
        parts = [ngettext("{n} row", "{n} rows", found.total).format(n=text.count(found.total))]
        if bad:
            parts.append(ngettext("{n} with errors", "{n} with errors", bad).format(n=text.count(bad)))
        if out > bad:
            parts.append(ngettext("{n} left out", "{n} left out", out - bad).format(n=text.count(out - bad)))
        self.counts.show_text(text.listed(parts), parts[1] if bad else "")  # of what is read above, only the rest
        self.counts.set_tone("dead" if bad else "text")
        self.only_errors.setVisible(bool(bad) or self.only_errors.isChecked())
        self.next.setVisible(bool(bad))
        self.undo.setVisible(bool(self._history))
        for widget in (self.copy, self.export):
            widget.setVisible(bool(out))

    def _fill_reading(self) -> None:
        assert self._orders is not None
        read = self._orders.table
        for widget in (self._reading_title, self.reading):
            widget.setVisible(bool(read.sheet or read.encoding))
        choices = [(name, name) for name in read.sheets] if read.sheet else list(ENCODINGS.items())
        self.reading.clear()
        for name, word in choices:
            self.reading.addItem(safe.one_line(word, 40), name)
        self.reading.setCurrentIndex(self.reading.findData(read.sheet or read.encoding))
        self.reading.setAccessibleName(self._reading_title.text())


class SheetSummary(SideColumn):
    """The right column: how many tasks of which types and platforms, and what counts where a row says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._orders: Orders | None = None
        self._draft, self._fate, self._again = Draft(), REJECT, False
        self._lead, self._number = Label("", "body", "text2"), Label("", "number")
        self._each = Label("", "body", "text2", wrap=True)
        self.repeats, self.twins, self.done = RepeatNotice(), TwinNotice((REJECT, QUEUE, STOP)), DoneNotice()
        self._before = Label("", "label", "text2", wrap=True)
        self._gates: Mapping[int, str] = {}
        self.barred, self.barred_link = Notice("warning"), LinkLabel(ONLY_THESE)
        self.barred.add_links(self.barred_link)
        self._kinds, self._platforms, self._after, self._defaults = (KeyValues(spread=True) for _place in range(4))
        self._else = Label("", "label", "text3", wrap=True)
        self.change = LinkLabel(N_("Change"))
        column = self.body
        for widget in (self._lead, self._number, self._each):
            column.addWidget(widget)
        column.addSpacing(4)
        for notice in (self.repeats, self.twins, self.done, self._before, self.barred):
            column.addWidget(notice)
        column.addSpacing(8)
        column.addWidget(self._after)
        for facts in (self._kinds, self._platforms):
            column.addSpacing(8)
            column.addWidget(line())
            column.addSpacing(8)
            column.addWidget(facts)
        column.addSpacing(8)
        column.addWidget(line())
        column.addSpacing(8)
        column.addWidget(self._else)
        column.addSpacing(4)
        column.addWidget(self._defaults)
        column.addSpacing(4)
        column.addWidget(self.change)
        column.addStretch(1)

    def show_orders(self, found: Orders, draft: Draft, fate: str, *, again: bool) -> None:
        """Take what a file asks for, and what the dialog says beside it."""
        self._orders, self._draft = found, draft
        self._fate, self._again = fate, again

    def show_barred(self, barred: Mapping[int, str]) -> None:
        """Take which rows could not start now, and why."""
        self._gates = barred
        self._say_barred()

    def show_only(self, *, alone: bool) -> None:
        """Offer the other way: those rows alone, or all of them again."""
        self.barred_link.set_source(N_("Show all rows") if alone else ONLY_THESE)

    def facts(self) -> dict[str, str]:
        """The numbers shown, by name."""
        some = (self._kinds, self._platforms, self._after, self._defaults)
        return {name: value for facts in some for name, value in facts.values().items()}

    def say(self) -> None:
        """Say it in the present language."""
        found = self._orders
        if found is None:
            return
        number = len(found.going)
        self._lead.setText(_("This will create"))
        self._number.setText(tasks(number))
        self._number.set_tone("text" if number else "dis")
        self._each.setText(_("one for each good row, as the row says"))
        self.repeats.show_repeats([(one.row, first_of(one)) for one in found.twins])
        self._say_active(found)
        self._say_done(found)
        self._say_barred()
        self._kinds.set_rows([(self._type_word(name), text.count(count)) for name, count in found.types.most_common()])
        platforms = found.platforms.most_common()
        self._platforms.set_rows([(called.platform(name), text.count(count)) for name, count in platforms])
        self._after.set_rows(after_facts(found.after))
        self._else.setText(_("Where a row says nothing:"))
        self._defaults.set_rows(self._default_rows(found))

    def _say_active(self, found: Orders) -> None:
        number = len(found.active)
        lead = ngettext(
            "{n} row is the same work as a task that waits or runs",
            "{n} rows are the same work as tasks that wait or run",
            number,
        ).format(n=text.count(number))
        rows = _rows([one.spec.line for one in found.active])
        how = standing(one.status for one in found.active)
        words = _("{rows}: {standing}").format(rows=rows, standing=how)
        self.twins.show_twins(lead if number else "", words, self._fate)

    def _say_done(self, found: Orders) -> None:
        known, before = [one for one in found.again if not ledger.unread(one.done)], len(found.before)
        lead, words, number = "", "", len(known)
        if known:
            last = max(known, key=lambda one: one.done.at).done
            many = ngettext("{n} row was done already", "{n} rows were done already", number)
            lead = many.format(n=text.count(number))
            words = _("{rows}: last at {time}, by {who}").format(
                rows=_rows([one.spec.line for one in known]),
                time=shown.clock(last.at, found.now_ms),
                who=origins.who(last.by),
            )
        if lost := [one.spec.line for one in found.again if ledger.unread(one.done)]:
            unread = _("{rows}: nobody can read whether it was done").format(rows=_rows(lost))
            words = (
                text.listed([words, unread], ";")
                if known
                else _("Doctor finds the entry, and its repair sets it aside")
            )
            lead = lead or unread
        self.done.show_done(lead, words, again=self._again, known=bool(known))
        told = ngettext(
            "{n} row is work that has succeeded before; its type lets it be done again.",
            "{n} rows are work that has succeeded before; their types let it be done again.",
            before,
        )
        self._before.setText(told.format(n=text.count(before)) if before else "")
        self._before.setVisible(bool(before))

    def _say_barred(self) -> None:
        going = [spec.line for spec in self._orders.going] if self._orders is not None else []
        rows: dict[str, list[int]] = {}
        for row in going:
            if row in self._gates:
                rows.setdefault(self._gates[row], []).append(row)
        held = sum(map(len, rows.values()))
        lead = ngettext("{held} of {n} task cannot start now", "{held} of {n} tasks cannot start now", len(going))
        said = [
            _("{rows}: {standing}").format(rows=_rows(rows[gate]), standing=_(one.short))
            for gate, one in listed.BY_NAME.items()
            if gate in rows
        ]
        words = lead.format(held=text.count(held), n=text.count(len(going))) if held else ""
        self.barred.show_words(words, "\n".join(said))

    def _default_rows(self, found: Orders) -> list[tuple[str, str]]:
        draft, given = self._draft, found.basis.defaults if found.basis is not None else Defaults()
        word = f"{pgettext('lane', LANES[draft.lane].word)} {draft.priority}"
        rows = [(_("Priority"), word)]
        if given.platform:
            rows.insert(0, (_("Platform"), called.platform(given.platform)))
        if given.task_type:
            rows.insert(0, (_("Task type"), self._type_word(given.task_type)))
        start = _("at once")
        if draft.at_ms:
            start = shown.clock(draft.at_ms, draft.at_ms)
        elif draft.delay_min:
            start = text.until(shown.span(draft.delay_min * 60_000))
        rows.append((_("Start"), start))
        if given.deadline_ms:
            rows.append((_("Deadline"), shown.clock(given.deadline_ms, given.deadline_ms)))
        if given.depends_on:
            rows.append((_("After"), text.listed([self._type_word(name) for name in given.depends_on[:RUNS_NAMED]])))
        if draft.payload:
            kind = self._type_word(draft.task_type)
            rows.append((_("Parameters"), _("of {type}, as filled in").format(type=kind)))
        return rows

    def _type_word(self, name: str) -> str:
        return safe.one_line(type_names.name(name), 40)


def _rows(numbers: list[int]) -> str:
    """Which rows, as runs: ``Rows 2-5, 9``."""
    runs = text.runs(numbers)
    named = [f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:RUNS_NAMED]]
    rows = ngettext("Row {rows}", "Rows {rows}", len(numbers)).format(rows=text.listed(named))
    more = sum(map(len, runs[RUNS_NAMED:]))
    return _("{rows} and {n} more").format(rows=rows, n=text.count(more)) if more else rows


class RepeatNotice(Notice):
    """Rows that repeat another row of the file: which repeats which, and the way to the next of them.

    Signals:
    row_wanted: the number of a row of the file.
    """

    row_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__("warning")
        self._pairs: list[tuple[int, int]] = []
        self._next = 0
        self.show_link = LinkLabel(N_("Show"))
        self.show_link.activated.connect(self._on_show)
        self.add_links(self.show_link)

    def show_repeats(self, pairs: list[tuple[int, int]]) -> None:
        """Say of each (row, the row that it repeats); without any it is hidden."""
        if pairs != self._pairs:
            self._pairs, self._next = pairs, 0
        number = len(pairs)
        lead = ngettext(
            "{n} row repeats another one and is left out", "{n} rows repeat other ones and are left out", number
        ).format(n=text.count(number))
        named = [_("row {row} repeats row {first}").format(row=row, first=first) for row, first in pairs[:RUNS_NAMED]]
        words = text.first_up(text.listed(named))
        if number > RUNS_NAMED:
            words = _("{rows} and {n} more").format(rows=words, n=text.count(number - RUNS_NAMED))
        self.show_words(lead if number else "", words)

    def _on_show(self) -> None:
        """The next of them; after the last the first again."""
        row, _first = self._pairs[self._next % len(self._pairs)]
        self._next += 1
        self.row_wanted.emit(row)
