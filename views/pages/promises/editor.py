"""The dialog for a new promise, or for a change of one; says while it is filled in how that would stand now, and
would have stood before.
"""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.promise import AGE, BY, Promise
from services.i18n import N_, _
from services.monitor.promises import Before, PromiseRow
from views.context import PageContext
from views.dialogs.record import (
    RecordDialog,
    RecordFields,
    described,
    filled_from,
    in_two_columns,
    pair,
    seconds,
    short,
)
from views.pages.promises import words
from views.support import instant, text
from views.support.language import say_in_language
from views.support.look import Label
from views.widgets.layout import STRETCH, in_row
from views.widgets.segmented import Segmented

WIDTH, LOOK_MS, MOST_CAUSES = 720, 400, 3
EVERY_DAY = tuple(range(7))
_DAY_MIN = 1440


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
        self.limit, self.hours, self.by, self.begins, self.owner = (QLineEdit() for _n in range(5))
        self.kind = Segmented(
            ((AGE, N_("Never older than")), (BY, N_("Done by"))), N_("What is promised"), stretch=True
        )
        self.days = [QCheckBox() for _day in text.DAYS]
        self._lay_out()
        self.preview = Label("", "label", "text2", wrap=True)
        self.preview.setMinimumHeight(52)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.preview)
        self.cancel_button, self.save_button = self.end_with_save(self._save)
        say_in_language(self._name_days)

    def _lay_out(self) -> None:
        self.hours.setPlaceholderText("08:00-23:00")
        for page in (
            pair(
                self._labelled("limit", N_("At most"), self.limit, N_("such as 60m or 2h")),
                self._labelled("hours", N_("Hours"), self.hours, N_("empty: always")),
            ),
            pair(
                self._labelled("by", N_("Hour"), self.by, N_("such as 08:00")),
                self._labelled("from", N_("Counts from"), self.begins, N_("empty: midnight")),
            ),
        ):
            self._when.addWidget(page)
        cells = (
            self._labelled("name", N_("Name"), self.name, N_("letters, digits, _ and -")),
            self._labelled("type", N_("Task type"), self.task_type),
            self._labelled("kind", N_("What is promised"), self.kind),
            self._when,
            *self._lay_out_shops(),
        )
        self.body.addLayout(in_two_columns(cells))
        week = QWidget()
        in_row(*self.days, STRETCH, owner=week, spacing=14)
        self.body.addWidget(self._labelled("days", N_("Days"), week, N_("hours are those of the fleet's time zone")))
        self.body.addWidget(
            pair(
                self._labelled("owner", N_("Owner"), self.owner, N_("who answers for it")),
                self._labelled("note", N_("Note"), self.note),
            )
        )

    def _name_days(self) -> None:
        for box, name in zip(self.days, text.DAYS, strict=True):
            box.setText(_(name))

    def _connect(self) -> None:
        self._listen(self.limit, self.hours, self.by, self.begins)
        for box in self.days:
            box.toggled.connect(self._look_soon)
        self.kind.chosen.connect(self._on_segment)

    # values

    def _load(self, values: Filled) -> None:
        for field, value in (
            (self.limit, values.limit),
            (self.hours, values.hours),
            (self.by, values.by),
            (self.begins, values.begins),
            (self.owner, values.owner),
        ):
            field.setText(value)
        self.kind.set_current(values.kind)
        for day, box in enumerate(self.days):
            box.setChecked(day in values.days)
        self._begin(values, self.limit, named=self._base is not None)

    def values(self) -> Filled:
        """The fields as they stand."""
        return Filled(
            **self._common(),
            kind=self.kind.current(),
            limit=self.limit.text(),
            hours=self.hours.text(),
            by=self.by.text(),
            begins=self.begins.text(),
            days=tuple(day for day, box in enumerate(self.days) if box.isChecked()),
            owner=self.owner.text(),
        )

    def _kind(self) -> int:
        return (AGE, BY).index(self.kind.current())

    # looking and keeping

    def _record(self) -> Promise:
        return promise_of(self.values(), self._base)

    def _try(self, wanted: Promise) -> tuple[PromiseRow, Before]:
        return _tried(self._context, wanted)

    def _show_preview(self, tried: tuple[PromiseRow, Before]) -> None:
        self._clear()
        row, before = tried
        self.preview.set_tone("text2")
        self.preview.setText("\n".join(filter(None, (would_stand(row), would_have_stood(before)))))

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


def would_have_stood(before: Before) -> str:
    """How often it would have been broken in the last 30 days, and what of that nobody knows."""
    last = _("The last time at {time}").format(time=words.minute(before.last, instant.now_ms()))
    return text.sentences([*map(words.say, before.said), last if before.breaks else ""])


def _tried(context: PageContext, wanted: Promise) -> tuple[PromiseRow, Before]:
    made = context.commands.promises.checked(wanted)
    found = context.promise_tried(made)
    return context.promises.judged(made, found, found.judged_at).row, context.promises.before(made)


class Filled(RecordFields, frozen=True, kw_only=True):
    """The fields as they stand."""

    kind: str = AGE
    limit: str = "60m"
    hours: str = ""  #: "" for always
    by: str = "08:00"
    begins: str = ""  #: "" for midnight
    days: tuple[int, ...] = EVERY_DAY
    owner: str = ""


def filled(promise: Promise) -> Filled:
    """The fields for a promise."""
    window, start, end = promise.window, promises.clock(promise.window.start), promises.clock(promise.window.end)
    ages = promise.kind == AGE
    whole = (window.start, window.end) == (0, _DAY_MIN)
    return Filled(
        **filled_from(promise),
        kind=promise.kind,
        limit=short(promise.limit_s, 2) if ages else Filled().limit,
        hours=f"{start}-{end}" if ages and not whole else "",
        by=Filled().by if ages else end,
        begins=start if not ages and window.start else "",
        days=window.days,
        owner=promise.owner,
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
        **described(fields),
        kind=AGE if ages else BY,
        limit_s=seconds(fields.limit, "limit") if ages else 0,
        window=Weekly(days=tuple(sorted(fields.days)), start=start, end=end),
        owner=fields.owner.strip(),
    )


def _plain(text: str) -> str:
    """Hours as they are also typed in Chinese."""
    return "".join(text.split()).replace("：", ":").replace("–", "-").replace("至", "-")
