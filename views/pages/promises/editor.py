"""The dialog for a new promise, or for a change of one: sentences with fields among their words; says while they are
filled in how that would stand now, and would have stood before.
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
from views.dialogs.record import ALL, NAMED, SOME, RecordDialog, RecordFields, described, filled_from, seconds, short
from views.pages.promises import words
from views.support import instant, text
from views.support.language import say_in_language
from views.support.look import Label
from views.widgets.fields import WordField
from views.widgets.flow_row import Sentences, WordWidths
from views.widgets.layout import in_column, in_row

WIDTH, LOOK_MS, MOST_CAUSES = 720, 400, 3
#: letters of a task type that its field has room for
TYPE_LETTERS = 26
_KINDS = ((AGE, N_("never older than")), (BY, N_("done by")))
_CHOICES = ((ALL, N_("every shop")), (SOME, N_("every fitting shop")), (NAMED, N_("these shops")))
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
        title, choice = N_("Edit a promise") if promise is not None else N_("New promise"), WordField(_CHOICES)
        super().__init__(title, choice, icon="ph.handshake", width=WIDTH, look_ms=LOOK_MS, parent=parent)
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
        self.kind = WordField(_KINDS)
        self.days = [QCheckBox() for _day in text.DAYS]
        self._widths = WordWidths(self)
        self._lay_out()
        self.preview = Label("", "label", "text2", wrap=True)
        self.preview.setMinimumHeight(52)
        self.preview.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.preview)
        self.cancel_button, self.save_button = self.end_with_save(self._save)

    def _lay_out(self) -> None:
        week = QWidget()
        in_row(*self.days, owner=week, spacing=14)
        for name, label, field, hint in (
            ("name", N_("Name"), self.name, N_("letters, digits, _ and -")),
            ("choice", N_("Shops"), self.choice, ""),
            ("platform", N_("Platforms"), self.platforms, ""),
            ("group", N_("Groups"), self.groups, N_("both must fit")),
            ("shop", N_("Shops"), self.shops, N_("platform:shop_id, one a line")),
            ("type", N_("Task type"), self.task_type, ""),
            ("kind", N_("What is promised"), self.kind, ""),
            ("limit", N_("At most"), self.limit, N_("such as 60m or 2h")),
            ("by", N_("Hour"), self.by, N_("such as 08:00")),
            ("hours", N_("Hours"), self.hours, N_("such as 08:00-23:00")),
            ("from", N_("Counts from"), self.begins, N_("such as 08:00")),
            ("days", N_("Days"), week, ""),
            ("owner", N_("Owner"), self.owner, N_("who answers for it")),
            ("note", N_("Note"), self.note, ""),
        ):
            self._labelled(name, label, field, hint, in_words=True)
            if isinstance(field, QLineEdit):
                self._widths.add(field, field)
        self.task_type.setMinimumContentsLength(TYPE_LETTERS)
        self._sentences = Sentences(len(self._in_fields()))
        self._zone = Label("", "label", "text3", wrap=True)
        in_one = QWidget()
        in_column(self._sentences, self._zone, owner=in_one, spacing=6)
        self.body.addWidget(in_one)
        say_in_language(self._say)

    def _in_fields(self) -> tuple[str, ...]:
        return words.in_fields(self.kind.current(), self.choice.current(), new=self._base is None)

    def _say(self) -> None:
        """Say everything, in the language of the moment."""
        for box, name in zip(self.days, text.DAYS, strict=True):
            box.setText(_(name))
        for field, empty in (
            (self.name, _("letters, digits, _ and -")),
            (self.platforms, _("all platforms")),
            (self.groups, _("all groups")),
            (self.hours, _("at all hours")),
            (self.begins, _("midnight")),
            (self.owner, _("nobody")),
            (self.note, _("nothing")),
        ):
            field.setPlaceholderText(empty)
        self.shops.setPlaceholderText(_("platform:shop_id, one a line"))
        self._zone.setText(_("The hours are those of the fleet's time zone."))
        self._widths.fit()
        self._say_sentences()

    def _say_sentences(self) -> None:
        """They are others by what is promised, and to whom; their fields stand in the order of the language."""
        self._sentences.show_words(self._in_fields(), self.fields)

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

    def _on_segment(self, _key: str = "") -> None:
        self._say_sentences()
        super()._on_segment()

    # looking and keeping

    def _record(self) -> Promise:
        return promise_of(self.values(), self._base)

    def _try(self, wanted: Promise) -> tuple[PromiseRow, Before]:
        return _tried(self._context, wanted)

    def _show_preview(self, tried: tuple[PromiseRow, Before]) -> None:
        self._clear()
        row, before = tried
        self.setAccessibleDescription(words.sentence(row.promise))
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
        return _("No shop that is enabled fits it.")
    now = instant.now_ms()
    stands = _("If this were kept, it would stand now: {numbers}")
    parts = [stands.format(numbers=text.listed(numbers))]
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
    return context.promises.judged(made, found).row, context.promises.before(made)


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
