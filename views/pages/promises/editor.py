"""The dialog for a new promise, or for a change of one; says while it is filled in how that would stand now."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QStackedWidget, QWidget

from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.promise import AGE, BY, Promise
from services.domain.task.search import filter_time
from services.i18n import N_, _
from services.monitor.promises import PromiseRow
from views.context import PageContext
from views.dialogs.record import ALL, NAMED, SOME, RecordDialog
from views.pages.promises import words
from views.support import instant, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.widgets.fields import ChoiceField
from views.widgets.segmented import Segmented

WIDTH, LOOK_MS, MOST_CAUSES = 720, 400, 3
EVERY_DAY = tuple(range(7))
_DAY_MIN = 1440
_BETWEEN = re.compile(r"[\s,;，；、]+")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class PromiseDialog(RecordDialog[Promise]):
    """A promise."""

    def __init__(
        self,
        context: PageContext,
        promise: Promise | None = None,
        like: Promise | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """``promise`` is changed; ``like`` only fills the fields of a new one."""
        title = N_("Edit a promise") if promise is not None else N_("New promise")
        super().__init__(title, icon="ph.handshake", width=WIDTH, look_ms=LOOK_MS, parent=parent)
        self._context, self._base = context, promise
        self._build()
        shown = promise or like
        self._load(filled(shown) if shown is not None else Filled())
        self._connect()
        self._untouched = self.values()
        self._asking.start(context.types, self._show_types)

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
        self.days = [QCheckBox() for _day in text.DAYS]
        self._when, self._whom = QStackedWidget(), QStackedWidget()
        self._lay_out()
        self.preview = Label("", "label", "text2", wrap=True)
        self.preview.setMinimumHeight(52)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.preview)
        self.cancel_button, self.save_button = self.end_with_save(self._save)
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

    def _name_days(self) -> None:
        for box, name in zip(self.days, text.DAYS, strict=True):
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
            task_type=self._type_code(),
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

    def _kind(self) -> int:
        return (AGE, BY).index(self.kind.current())

    # looking and keeping

    def _record(self) -> Promise:
        return promise_of(self.values(), self._base)

    def _try(self, wanted: Promise) -> PromiseRow:
        return _tried(self._context, wanted)

    def _show_preview(self, row: PromiseRow) -> None:
        self._clear()
        self.preview.set_tone("text2")
        self.preview.setText(would_stand(row))

    def _keep(self, wanted: Promise) -> str:
        self._context.commands.promises.set(wanted)
        return wanted.name


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
        breaks = _("The first break would be at {time} in {shops}")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The fields as they stand."""

    name: str = ""
    task_type: str = ""
    kind: str = AGE
    limit: str = "60m"
    hours: str = ""  #: "" for always
    by: str = "08:00"
    begins: str = ""  #: "" for midnight
    days: tuple[int, ...] = EVERY_DAY
    choice: str = ALL
    platforms: str = ""
    groups: str = ""
    shops: str = ""
    owner: str = ""
    note: str = ""


def filled(promise: Promise) -> Filled:
    """The fields for a promise."""
    window, start, end = promise.window, promises.clock(promise.window.start), promises.clock(promise.window.end)
    ages = promise.kind == AGE
    whole = (window.start, window.end) == (0, _DAY_MIN)
    return Filled(
        name=promise.name,
        task_type=promise.task_type,
        kind=promise.kind,
        limit=short(promise.limit_s) if ages else Filled().limit,
        hours=f"{start}-{end}" if ages and not whole else "",
        by=Filled().by if ages else end,
        begins=start if not ages and window.start else "",
        days=window.days,
        choice=ALL if promise.all_shops else NAMED if promise.shops else SOME,
        platforms=", ".join(promise.platforms),
        groups=", ".join(promise.groups),
        shops=", ".join(promise.shops),
        owner=promise.owner,
        note=promise.note,
    )


def promise_of(fields: Filled, base: Promise | None = None) -> Promise:
    """The promise that the fields describe; what they do not show is that of ``base``.

    Raises:
        UsageError: a field is not readable.
    """
    ages = fields.kind == AGE
    start, end = 0, _DAY_MIN
    if ages and fields.hours.strip():
        start, end = promises.hours(_plain(fields.hours))
    elif not ages:
        start = promises.hour(_plain(fields.begins), "from") if fields.begins.strip() else 0
        end = promises.hour(_plain(fields.by), "by")
    old = base or Promise(name=fields.name, task_type=fields.task_type)
    return msgspec.structs.replace(
        old,
        name=fields.name.strip(),
        task_type=fields.task_type.strip(),
        kind=AGE if ages else BY,
        limit_s=seconds(fields.limit) if ages else 0,
        window=Weekly(days=tuple(sorted(fields.days)), start=start, end=end),
        all_shops=fields.choice == ALL,
        platforms=_words(fields.platforms) if fields.choice == SOME else (),
        groups=_words(fields.groups) if fields.choice == SOME else (),
        shops=_words(fields.shops) if fields.choice == NAMED else (),
        owner=fields.owner.strip(),
        note=fields.note.strip(),
    )


def seconds(text: str) -> int:
    """Seconds of ``60m``.

    Raises:
        UsageError: it is no duration.
    """
    found = filter_time.duration_ms("".join(text.split()))
    if found is None or found % 1000:
        raise UsageError(_("Write a duration such as 90s, 30m or 2h."), field="limit")
    return found // 1000


def short(number: int) -> str:
    """Seconds as they are typed: ``60m``; hours only where they are whole days or more than two."""
    size, unit = next((size, unit) for size, unit in _UNITS if number % size == 0 and (number > size or size == 1))
    return f"{number // size}{unit}"


def _plain(text: str) -> str:
    """Hours as they are also typed in Chinese."""
    return "".join(text.split()).replace("：", ":").replace("–", "-").replace("至", "-")


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))
