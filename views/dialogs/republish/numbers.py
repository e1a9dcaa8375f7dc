"""The left half: how many become tasks, how many are skipped and why, with a switch for each reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from services.commands.bulk.plan import ASKS, DONE, GONE, PAUSED, SCHEMA, Item
from services.domain.fleet.shop import Shop
from services.i18n import N_, _, ngettext
from views.dialogs.republish.shares import SharesBar
from views.dialogs.republish.sorting import CLOSED, FIXED, RULES, TWIN, Sorted
from views.support import safe, shown, text
from views.support.look import Label, line
from views.support.words import type_names
from views.theme import theme
from views.widgets.elided import Elided
from views.widgets.layout import in_column, in_row
from views.widgets.toggle import Toggle

#: reason -> (glyph, colour role of glyph and share, words while skipped, words while sent too); what goes is ``GOES``
_LOOKS: dict[str, tuple[str, str, str, str]] = {
    TWIN: (
        "ph.copy",
        "waiting",
        N_("Skipped: the same task runs or waits"),
        N_("Sent too: to run after the same task"),
    ),
    DONE: (
        "ph.checks",
        "succeeded",
        N_("Skipped: the same work has succeeded since"),
        N_("Sent too: their work is done once more"),
    ),
    ASKS: ("ph.question", "scheduled", N_("Skipped: each goes alone, with a reason of its own"), ""),
    CLOSED: (
        "ph.lock-simple-fill",
        "retrying",
        N_("Skipped: shop still logged out"),
        N_("Sent too: shop still logged out"),
    ),
    PAUSED: (
        "ph.pause-circle",
        "retrying",
        N_("Skipped: held back now"),
        N_("Sent too: held back now, they wait there"),
    ),
    SCHEMA: (
        "ph.brackets-curly",
        "dead",
        N_("Skipped: its type refuses the payload now"),
        N_("Sent too: its type refuses the payload now"),
    ),
    GONE: ("ph.check-circle", "text3", N_("Skipped: no open dead letter any more"), ""),
}
GOES = "accent"
SHOWN = 3
NAMES = 4


class NumbersPane(QWidget):
    """Signals:
    skip_changed: a reason, and whether letters with it are skipped.
    """

    skip_changed = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self._number, self._lead = Label("", "number"), Label("", "body", "text2", wrap=True)
        self._bar = SharesBar()
        self._new = _Row("ph.arrow-clockwise", GOES)
        self.rules = {rule: _Row(*_LOOKS[rule][:2], toggle=rule not in FIXED) for rule in RULES}
        head = in_row(self._number, (self._lead, 1), spacing=12)
        column = in_column(head, self._bar, self._new, owner=self, spacing=8)
        for rule, row in self.rules.items():
            column.addWidget(row)
            row.hide()  # until some have that reason: seven switches would come and go
            row.toggle.toggled.connect(partial(self.skip_changed.emit, rule))

    def show_busy(self, done: int = 0, of: int = 0) -> None:
        """Say that the numbers are on their way: how many letters are looked at, of how many."""
        self._number.setText("…")
        self._number.set_tone("text3")
        words = _("looking at each letter: {done} of {n}") if done else _("looking at each letter")
        self._lead.setText(words.format(done=text.count(done), n=text.count(of)))

    def show_sorted(self, found: Sorted, skip: frozenset[str], shops: Mapping[str, Shop]) -> None:
        """Show what becomes of each."""
        number = len(found.going)
        self._number.setText(text.count(number))
        self._number.set_tone("text" if number else "dis")
        self._lead.setText(_lead(found))
        self._new.show_words(number, _("New tasks with new ids"), _types(found.counts("task_type")))
        pieces = [(number, GOES)]
        for rule, row in self.rules.items():
            items = found.reasons.get(rule, ())
            skipped = rule in skip | FIXED
            # what was switched off stays in sight, to be switched on again
            row.setVisible(bool(items) or not skipped)
            row.set_on(skipped)
            row.show_words(len(items), _(_LOOKS[rule][2 if skipped else 3]), _details(rule, items, shops))
            if skipped:
                pieces.append((len(items), _LOOKS[rule][1]))
        self._bar.show_pieces(pieces)

    def number(self) -> str:
        """The large number shown."""
        return self._number.text()


class _Row(QWidget):
    """Glyph, number, words, and a switch."""

    def __init__(self, glyph: str, role: str, *, toggle: bool = False) -> None:
        super().__init__()
        self._look = (glyph, role)
        self._glyph, self.number = QLabel(), Label("", "panel")
        self.title, self.detail = Elided("", "strong"), Label("", "label", "text2", wrap=True)
        self.toggle = Toggle(N_("Skip these"), on=True)
        self.toggle.setVisible(toggle)
        self.number.setMinimumWidth(34)
        words = in_column(self.title, self.detail, spacing=1)
        row = in_row(self._glyph, self.number, (words, 1), self.toggle, margins=(2, 0, 0, 0), spacing=8)
        in_column(row, line(), owner=self, spacing=7)
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_words(self, number: int, title: str, detail: str) -> None:
        """Show already translated texts."""
        self.number.setText(text.count(number))
        self.title.show_text(title)
        self.detail.setText(safe.one_line(detail))
        self.toggle.setAccessibleDescription(f"{number} {title}")

    def set_on(self, on: bool) -> None:
        """Move the switch without a signal."""
        self.toggle.blockSignals(True)
        self.toggle.setChecked(on)
        self.toggle.blockSignals(False)

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap(*self._look, 15))


def _lead(found: Sorted) -> str:
    shops, of = found.shops()
    words = ngettext("of {n} task will be published again", "of {n} tasks will be published again", found.total)
    lead = words.format(n=text.count(found.total))
    where = ngettext("to {some} of {n} shop", "to {some} of {n} shops", of).format(
        some=text.count(shops), n=text.count(of)
    )
    return _("{lead}, {where}").format(lead=lead, where=where) if of else lead


def _types(counts: Mapping[str, int]) -> str:
    names = list(counts.items())
    parts = [f"{text.count(number)} {type_names.name(name)}" for name, number in names[:SHOWN]]
    rest = sum(number for _name, number in names[SHOWN:])
    if rest:
        parts.append(ngettext("{n} other", "{n} others", rest).format(n=text.count(rest)))
    return text.listed(parts)


def _details(rule: str, items: Sequence[Item], shops: Mapping[str, Shop]) -> str:
    if rule == TWIN:
        return _("Same type, shop and payload")
    if rule == CLOSED:
        keys = list(dict.fromkeys(item.shop for item in items))
        names = [shops[key].name if key in shops and shops[key].name else key for key in keys[:NAMES]]
        rest = len(keys) - NAMES
        return text.listed([*names, *([f"+{rest}"] if rest > 0 else [])])
    first = next((item.why for item in items if item.why is not None), None)
    return shown.say(first) if first is not None else ""
