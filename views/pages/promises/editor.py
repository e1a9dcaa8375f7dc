"""The dialog for a new promise, or for a change of one; says while it is filled in how that would stand now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QStackedWidget, QWidget

from services.domain.errors import OperatorError
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.promise import AGE, BY, Promise
from services.i18n import N_, _
from services.messages import told
from services.monitor.promises import PromiseRow
from views.context import PageContext
from views.dialogs.frame import DialogFrame
from views.pages.promises import form, words
from views.pages.promises.form import ALL, NAMED, SOME, Filled
from views.support import instant, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.widgets.fields import ChoiceField, Labelled
from views.widgets.segmented import Segmented

WIDTH, LOOK_MS, MOST_CAUSES = 720, 400, 3


class PromiseDialog(DialogFrame):
    """Signals:
    saved: name of the promise that was kept.
    """

    saved = Signal(str)

    def __init__(
        self,
        context: PageContext,
        promise: Promise | None = None,
        like: Promise | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """``promise`` is changed; ``like`` only fills the fields of a new one."""
        title = N_("Edit a promise") if promise is not None else N_("New promise")
        super().__init__(title, icon="ph.handshake", parent=parent)
        self.setFixedWidth(WIDTH)
        self._context, self._base = context, promise
        self._looking, self._saving, self._asking = Operation(self, latest=True), Operation(self), Operation(self)
        self._look_soon = Debounce(self._look, LOOK_MS, self)
        self.fields: dict[str, Labelled] = {}
        self._build()
        shown = promise or like
        self._load(form.filled(shown) if shown is not None else Filled())
        self._connect()
        self._asking.start(context.types, lambda types: self._show_types(sorted(types)))

    # putting together

    def _build(self) -> None:
        self.name, self.limit, self.hours, self.by, self.begins = (QLineEdit() for _n in range(5))
        self.platforms, self.groups, self.shops, self.owner, self.note = (QLineEdit() for _n in range(5))
        self.task_type = ChoiceField()
        self.task_type.setEditable(True)
        self.kind = Segmented(
            ((AGE, N_("Never older than")), (BY, N_("Done by"))), N_("What is promised"), stretch=True
        )
        self.choice = Segmented(
            ((ALL, N_("All")), (SOME, N_("By group")), (NAMED, N_("By name"))), N_("Shops"), stretch=True
        )
        self.days = [QCheckBox() for _day in words.DAYS]
        self._when, self._whom = QStackedWidget(), QStackedWidget()
        self._lay_out()
        self.preview = Label("", "label", "text2", wrap=True)
        self.preview.setMinimumHeight(52)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.preview)
        self.cancel_button, self.save_button = self.end_with_save(self._save, shortcut="Ctrl+Return")
        self._name_days()
        on_language_changed(self._name_days)

    def _lay_out(self) -> None:
        for page in (
            _pair(
                self._labelled("limit", N_("At most"), self.limit, N_("such as 60m or 2h")),
                self._labelled("hours", N_("Hours"), self.hours, N_("empty: always; such as 08:00-23:00")),
            ),
            _pair(
                self._labelled("by", N_("Hour"), self.by, N_("such as 08:00")),
                self._labelled("from", N_("Counts from"), self.begins, N_("empty: midnight")),
            ),
        ):
            self._when.addWidget(page)
        for page in (
            QWidget(),
            _pair(
                self._labelled("platform", N_("Platforms"), self.platforms),
                self._labelled("group", N_("Groups"), self.groups, N_("both must fit")),
            ),
            self._labelled("shop", N_("Shops"), self.shops, N_("platform:shop_id, separated by commas")),
        ):
            self._whom.addWidget(page)
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        cells: tuple[QWidget, ...] = (
            self._labelled("name", N_("Name"), self.name, N_("letters, digits, _ and -")),
            self._labelled("type", N_("Task type"), self.task_type),
            self._labelled("kind", N_("What is promised"), self.kind),
            self._when,
            self._labelled("choice", N_("Shops"), self.choice),
            self._whom,
        )
        for place, cell in enumerate(cells):
            grid.addWidget(cell, place // 2, place % 2, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(place % 2, 1)
        self.body.addLayout(grid)
        week = QWidget()
        row = QHBoxLayout(week)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        for box in self.days:
            row.addWidget(box)
        row.addStretch(1)
        self.body.addWidget(self._labelled("days", N_("Days"), week, N_("hours are those of the fleet's time zone")))
        self.body.addWidget(
            _pair(
                self._labelled("owner", N_("Owner"), self.owner, N_("who answers for it")),
                self._labelled("note", N_("Note"), self.note),
            )
        )

    def _labelled(self, name: str, label: str, field: QWidget, hint: str = "") -> Labelled:
        self.fields[name] = Labelled(label, field, hint=hint)
        return self.fields[name]

    def _name_days(self) -> None:
        for box, name in zip(self.days, words.DAYS, strict=True):
            box.setText(_(name))

    def _connect(self) -> None:
        lines = (self.name, self.limit, self.hours, self.by, self.begins, self.platforms, self.groups, self.shops)
        for field in lines:
            field.textChanged.connect(self._look_soon)
        self.task_type.currentTextChanged.connect(self._look_soon)
        for box in self.days:
            box.toggled.connect(self._look_soon)
        for segments in (self.kind, self.choice):
            segments.chosen.connect(self._on_segment)
        self._saving.busy_changed.connect(lambda busy: self.save_button.disable(_("It is being kept") if busy else ""))
        self._on_segment()
        (self.limit if self._base is not None else self.name).setFocus()

    # values

    def _load(self, values: Filled) -> None:
        for field, value in (
            (self.name, values.name),
            (self.limit, values.limit),
            (self.hours, values.hours),
            (self.by, values.by),
            (self.begins, values.begins),
            (self.platforms, values.platforms),
            (self.groups, values.groups),
            (self.shops, values.shops),
            (self.owner, values.owner),
            (self.note, values.note),
        ):
            field.setText(value)
        self.task_type.setCurrentText(values.task_type)
        self.kind.set_current(values.kind)
        self.choice.set_current(values.choice)
        for day, box in enumerate(self.days):
            box.setChecked(day in values.days)
        self.name.setReadOnly(self._base is not None)

    def values(self) -> Filled:
        """The fields as they stand."""
        return Filled(
            name=self.name.text(),
            task_type=self.task_type.currentText(),
            kind=self.kind.current(),
            limit=self.limit.text(),
            hours=self.hours.text(),
            by=self.by.text(),
            begins=self.begins.text(),
            days=tuple(day for day, box in enumerate(self.days) if box.isChecked()),
            choice=self.choice.current(),
            platforms=self.platforms.text(),
            groups=self.groups.text(),
            shops=self.shops.text(),
            owner=self.owner.text(),
            note=self.note.text(),
        )

    def _show_types(self, names: Sequence[str]) -> None:
        chosen = self.task_type.currentText()
        self.task_type.addItems(list(names))
        self.task_type.setCurrentText(chosen or (names[0] if names else ""))
        self._look_soon()

    def _on_segment(self, _key: str = "") -> None:
        self._when.setCurrentIndex((AGE, BY).index(self.kind.current()))
        self._whom.setCurrentIndex((ALL, SOME, NAMED).index(self.choice.current()))
        self._look_soon()

    # looking and keeping

    def _look(self, *_change: object) -> None:
        if not self.name.text().strip():
            self._clear()
            return
        try:
            wanted = form.promise_of(self.values(), self._base)
        except OperatorError as exc:
            self._show_error(exc)
            return
        self._looking.start(partial(_tried, self._context, wanted), self._show_preview, self._show_error)

    def _show_preview(self, row: PromiseRow) -> None:
        self._clear()
        self.preview.set_tone("text2")
        self.preview.setText(would_stand(row))

    def _save(self) -> None:
        try:
            wanted = form.promise_of(self.values(), self._base)
        except OperatorError as exc:
            self._show_error(exc)
            return
        call = partial(self._context.commands.promises.set, wanted)
        self._saving.start(call, lambda _before: self._on_saved(wanted.name), self._show_error)

    def _on_saved(self, name: str) -> None:
        self.accept()
        self.saved.emit(name)

    def _show_error(self, error: BaseException) -> None:
        self._clear()
        name = error.field if isinstance(error, OperatorError) else ""
        place = self.fields.get(name)
        if place is not None and place.isVisible():
            place.set_error(told(error))
            return
        self.preview.set_tone("dead")
        self.preview.setText(told(error))

    def _clear(self) -> None:
        self.preview.setText("")
        for field in self.fields.values():
            field.set_error("")


def would_stand(row: PromiseRow) -> str:
    """How a promise would stand that nobody has kept yet."""
    found = row.standing
    if found is None:
        return ""
    numbers = [
        _("{name}: {value}").format(name=words.state(name), value=text.count(number))
        for name, number in (
            (BROKEN, found.broken),
            (AT_RISK, found.at_risk),
            (KEPT, found.kept),
            (NOT_DUE, found.not_due),
        )
        if number
    ]
    if not found.total:
        return text.sentences([words.sentence(row.promise), _("No shop that is enabled fits it.")])
    now = instant.now_ms()
    parts = [words.sentence(row.promise)]
    stands = _("If this were kept, it would stand now: {numbers}")
    parts.append(stands.format(numbers=text.listed(numbers)))
    if found.first_break:
        breaks = _("the first break would be at {time} in {shops}")
        parts.append(breaks.format(time=words.minute(found.first_break, now), shops=words.shops(found.first_shops)))
    parts += [
        _("{name}: {value}").format(name=words.shops(one.shops), value=words.say(one.message))
        for one in found.causes[:MOST_CAUSES]
    ]
    return text.sentences(parts)


def _tried(context: PageContext, wanted: Promise) -> PromiseRow:
    made = context.commands.promises.checked(wanted)
    found = context.promise_tried(made)
    return context.promises.judged(made, found, found.judged_at).row


def _pair(first: QWidget, second: QWidget) -> QWidget:
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addWidget(first, 1)
    row.addWidget(second, 1)
    return both
