"""The right column of the New task dialog: what will be created, what stands against it, when it would be done."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from services.commands.tasks import After
from services.domain.fleet.shop import Shop
from services.domain.gates import listed
from services.domain.insight.forecast import durations, outlook
from services.domain.insight.forecast.durations import Runs
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext, pgettext
from services.monitor.live import Snapshot
from services.spans import between
from views.dialogs.new_task.draft import Draft
from views.dialogs.new_task.side import SideColumn, tasks
from views.dialogs.new_task.twin_notice import DoneNotice, TwinNotice
from views.dialogs.new_task.twins import Twins, after_facts
from views.dialogs.notice import Notice
from views.dialogs.schema.json_text import pretty
from views.support import instant, shown, text
from views.support.load import USUAL_S, load_of
from views.support.look import Label, line
from views.theme import theme
from views.theme.tokens import LANES
from views.widgets.buttons import IconButton
from views.widgets.json.highlighter import JsonHighlighter
from views.widgets.key_values import KeyValues
from views.widgets.layout import STRETCH, in_column, in_row, put

PREVIEW_LINES = 14
#: shops that are named of those at one gate
NAMED = 3


class MessagePreview(QWidget):
    """Signals:
    step_wanted: the message before (-1) or after (+1).
    """

    step_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._title, self._place = Label("", "label", "text2"), Label("", "label", "text3")
        self.before = IconButton("ph.caret-left", N_("Message before"))
        self.after = IconButton("ph.caret-right", N_("Message after"))
        self.before.clicked.connect(self._on_before)
        self.after.clicked.connect(self._on_after)
        self.code = _Code()
        head = in_row(self._title, STRETCH, self._place, spacing=2)
        head.addSpacing(4)
        head.addWidget(self.before)
        head.addWidget(self.after)
        in_column(head, self.code, owner=self, spacing=4)

    def show_message(self, words: str, at: int, number: int, *, dim: bool) -> None:
        """Show the text of message ``at`` (from 0) of ``number``."""
        self._title.setText(_("First message") if not at else _("Message"))
        self.code.setAccessibleName(_("First message") if not at else _("Message"))
        place = _("{at} of {n}").format(at=text.count(at + 1), n=text.count(number))
        self._place.setText(place if number else "")
        self.before.disable("" if at > 0 else _("There is none before this one"))
        self.after.disable("" if at + 1 < number else _("There is none after this one"))
        self.code.setEnabled(not dim)
        if words != self.code.toPlainText():
            self.code.show_text(words)

    def _on_before(self) -> None:
        self.step_wanted.emit(-1)

    def _on_after(self) -> None:
        self.step_wanted.emit(1)


class _Code(QPlainTextEdit):
    """A small JSON text to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("panel", "code")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(8)
        self._highlighter = JsonHighlighter(self.document())
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_text(self, words: str) -> None:
        """Show a text in as much room as it needs."""
        self.setPlainText(words)
        lines = min(PREVIEW_LINES, self.blockCount())
        whole = lines == self.blockCount()
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(policy)
        self.setFixedHeight(lines * (self.fontMetrics().lineSpacing() + 1) + 20)

    def _restyle(self) -> None:
        self.setFont(theme().font("monosmall"))
        self.document().setDefaultFont(theme().font("monosmall"))


class Forecast(SideColumn):
    """Signals:
    show_twins: list the tasks that are active already.
    fate_chosen: what becomes of those: ``reject``, ``queue`` or ``force``.
    reason_changed: why they are forced.
    """

    show_twins = Signal()
    fate_chosen = Signal(str)
    reason_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._at = 0
        self._draft = Draft()
        self._dim = False
        self._barred: Mapping[str, str] = {}
        self._after: tuple[After, ...] = ()
        self._lead = Label("", "body", "text2")
        self._number = Label("", "number")
        self._each = Label("", "body", "text2")
        self.errors = Notice("dead")
        self.twins, self.done = TwinNotice(), DoneNotice()
        self.barred = Notice("warning")
        self._facts = KeyValues(spread=True)
        self.preview = MessagePreview()
        self._put_together()
        self.twins.show_wanted.connect(self.show_twins)
        self.twins.fate_chosen.connect(self.fate_chosen)
        self.twins.reason_changed.connect(self.reason_changed)
        self.preview.step_wanted.connect(self._step)

    def _put_together(self) -> None:
        column = self.body
        for widget in (self._lead, self._number, self._each):
            column.addWidget(widget)
        column.addSpacing(4)
        put(column, self.errors, self.twins, self.done, self.barred)
        column.addSpacing(8)
        column.addWidget(line())
        column.addSpacing(8)
        column.addWidget(self._facts)
        column.addSpacing(8)
        column.addWidget(line())
        column.addSpacing(4)
        column.addWidget(self.preview)
        column.addStretch(1)

    def show_draft(
        self,
        draft: Draft,
        twins: Twins,
        shops: Mapping[str, Shop],
        *,
        checking: bool = False,
        errors: str = "",
        hint: str = "",
    ) -> None:
        """Say what would happen now; ``errors`` make the numbers dim, they stay."""
        self._draft, self._dim = draft, bool(errors)
        self._at = min(self._at, max(0, draft.number - 1))
        self._lead.setText(_("This will create"))
        self._number.setText(tasks(draft.number))
        self._number.set_tone("dis" if errors or not draft.number else "text")
        self._each.setText(_("checking for duplicates") if checking else _("one for each ticked shop"))
        self.errors.show_words(errors, hint if errors else "")
        self.twins.show_twins(twins.headline() if twins.by_shop else "", twins.words(), draft.if_duplicate)
        known = bool(draft.asked - twins.unread)
        self.done.show_done(*twins.asked(draft.asked), again=draft.again, known=known)
        self._after = twins.after if draft.depends_on else ()
        self._barred = {shop: twins.barred[shop] for shop in draft.going() if shop in twins.barred}
        self.barred.show_words(*_cannot_start(draft.number, self._barred, shops))
        self._show_message()

    def show_outlook(
        self,
        draft: Draft,
        kind: TaskType | None,
        shops: Mapping[str, Shop],
        snapshot: Snapshot,
        usual: Runs = durations.NOTHING,
        before: str = "",
        first_run: int | None = None,
    ) -> None:
        """Say where they go, how long one usually takes, when the first one starts and when the last one is likely
        done. ``before``: when the same work has succeeded last; ``first_run``: of what repeats, 0 for not known.
        """
        lane = LANES[draft.lane]
        own = sum(1 for key in draft.going() if key in shops and shops[key].dedicated)
        shared = _("Lane {lane}").format(lane=f"{pgettext('lane', lane.word)} {draft.priority}")
        rows = [(shared, text.count(draft.number - own))]
        if own:
            rows.append((_("Dedicated queues"), text.count(own)))
        rows += after_facts(self._after)
        rows += [(_("Ran last"), before)] if before else []
        rows += self._times(draft, usual, snapshot) if first_run is None else [(_("First starts"), _planned(first_run))]
        if kind is not None:
            rows += _takes(usual)
            rows.append((_("Attempts"), str(draft.attempts or kind.max_retries + 1)))
            rows.append((_("Time-out"), text.coarse(shown.span(kind.timeout_s * 1000))))
        self._facts.set_rows(rows)

    def facts(self) -> dict[str, str]:
        """The numbers shown, by name."""
        return self._facts.values()

    def _times(self, draft: Draft, usual: Runs, snapshot: Snapshot) -> list[tuple[str, str]]:
        expected = usual.usual_s or USUAL_S
        load = load_of(snapshot, draft.lane, usual.usual_s, draft.task_type)
        number = draft.number - len(self._barred)
        found = outlook.forecast(load, number)
        now = instant.now_ms()
        wait_ms = max(0.0, draft.at_ms - now if draft.at_ms else draft.delay_min * 60_000)
        if found.first_s is None or found.done_s is None:
            return [(_("First starts"), _("when a worker runs"))]
        if snapshot.publisher().stuck or not snapshot.broker_serves:  # it is recorded, and sent later
            return [(_("First starts"), _("once the broker takes messages"))]
        if not number and draft.number:
            return [(_("First starts"), _("once one may start"))]
        if draft.depends_on and not any(one.free for one in self._after):
            return [(_("First starts"), _("once what it waits for has succeeded"))]
        first_ms, done_ms = max(wait_ms, found.first_s * 1000), max(wait_ms + expected * 1000, found.done_s * 1000)
        starts = text.until(shown.span(first_ms)) if first_ms >= 1000 else _("at once")
        rows = [(_("First starts"), starts)]
        if number and usual.known:
            early = max(wait_ms, (found.done_low_s or 0.0) * 1000)
            late = max(done_ms, (found.done_high_s or 0.0) * 1000)
            first, last = _minute(now + early, now), _minute(now + late, now)
            done = _("The others likely done") if self._barred else _("Likely all done")
            rows.append((done, first if first == last else f"{first}–{last}"))
        if load.waiting and draft.number:
            grows = text.percent(draft.number / load.waiting)
            rows.append((_("Waiting grows by"), grows))
        return rows

    def _step(self, by: int) -> None:
        self._at = max(0, min(self._draft.number - 1, self._at + by))
        self._show_message()

    def _show_message(self) -> None:
        words = pretty(self._draft.message(self._at))
        self.preview.show_message(words, self._at, self._draft.number, dim=self._dim)


def _cannot_start(number: int, barred: Mapping[str, str], shops: Mapping[str, Shop]) -> tuple[str, str]:
    """How many of the tasks could not start now, and for each gate which; "" for none."""
    if not barred:
        return "", ""
    held = len(barred)
    head = ngettext("{held} of {n} task cannot start now", "{held} of {n} tasks cannot start now", number)
    parts = []
    for gate in dict.fromkeys(sorted(barred.values(), key=tuple(listed.BY_NAME).index)):
        keys = [shop for shop, where in barred.items() if where == gate]
        names = text.listed(shops[key].name or key if key in shops else key for key in keys[:NAMED])
        if len(keys) > NAMED:
            names = _("{names} and {n} more").format(names=names, n=text.count(len(keys) - NAMED))
        parts.append(_("{gate}: {shops}").format(gate=text.first_up(_(listed.BY_NAME[gate].short)), shops=names))
    return head.format(held=text.count(held), n=text.count(number)), "\n".join(parts)


def _takes(usual: Runs) -> list[tuple[str, str]]:
    """How long eight of ten take, and by what that is known."""
    if not usual.known:
        return [(_("One takes"), _("not measured yet"))]
    if usual.basis == durations.DECLARED:
        declared = between(usual.usual_s, usual.usual_s)
        return [(_("One takes"), _("{span}, says its type").format(span=declared))]
    return [(_("One takes"), between(*usual.span_s))]


def _planned(first_run: int) -> str:
    return shown.clock(first_run, instant.now_ms()) if first_run else _("at its next time")


def _minute(instant_ms: float, now_ms: int) -> str:
    return shown.minute(round(instant_ms), now_ms)
