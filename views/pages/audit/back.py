"""Taking an act back from its entry: whether that can be, asked before it is done, and told when it is."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services import act_words
from services.commands.back.ways import Way, since, take_back
from services.commands.outcome import Outcome
from services.domain.text.message import Message
from services.i18n import N_, _, ngettext
from services.messages import render
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.kit.task_acting import barred
from views.pages.audit import words
from views.pages.audit.table import AuditLine
from views.support import instant, shown, text
from views.support.acting import HOLD_MANY_S, Acting
from views.support.operation import Operation

#: the verb of what is about to be taken back, with the key of the entry
HELD = "audit.back"


class TakingBack(QObject):
    """Signals:
    looked: what was done to an object since is known now: the key of its entry.
    changed: something was taken back, or that failed; ask again.
    """

    looked = Signal(str)
    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self.acting = Acting(owner, context.toast, context.pending)
        self.acting.ended.connect(self.changed)
        self._looking = Operation(self, latest=True)
        self._since: dict[str, Message | None] = {}
        self._forbidden = ""

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def look(self, row: AuditLine) -> None:
        """Ask what was done to its objects since, where that decides."""
        if isinstance(row.back, Way):
            self._looking.start(partial(since, self._context.audit, row.entry), partial(self._know, row.key))

    def _know(self, key: str, why: Message | None) -> None:
        self._since[key] = why
        self.looked.emit(key)

    def reason(self, row: AuditLine) -> str:
        """Why it cannot be taken back from here, translated; "" where it can, as far as that is known."""
        if isinstance(row.back, Message):
            return text.first_up(render(row.back))
        if (found := self._since.get(row.key)) is not None:
            return text.first_up(render(found))
        return barred(self._context, self._forbidden, row.back.role)

    def ask(self, row: AuditLine) -> None:
        """Say what will happen; what can be done only is done once a person wants it."""
        if isinstance(row.back, Message) or self.reason(row):
            return
        if not self.acting.free(HELD, [row.key]):
            return
        entry, way, objects = row.entry, row.back, row.taken_back
        n, removes = len(objects), way.by.endswith(".remove")
        facts = [
            (_("Act"), act_words.act(entry.action)),
            (_("Person"), entry.who),
            (_("Time"), shown.clock(entry.at, instant.now_ms())),
            (_("Object"), words.about(objects)),
            (_("Taken back by"), act_words.act(way.by)),
        ]
        if n < way.asked:
            facts.insert(4, (_("Done then"), words.of_asked(way)))
        question = Question(
            title=N_("Take an act back"),
            number=ngettext("{n} object", "{n} objects", n).format(n=text.count(n)) if n > 1 else "",
            text=_("It is done in your name, and has an entry of its own."),
            rows=tuple(facts),
            verb=act_words.act(way.by),
            danger=removes,
            typed=objects[0] if removes and n == 1 else typed_count(n, self._context.environment),
        )
        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(partial(self._go, row, way))
        dialog.open()

    def _go(self, row: AuditLine, way: Way) -> None:
        call = partial(take_back, self._context.commands, self._context.audit, row.entry)

        def done(outcome: Outcome) -> str:
            n = len(outcome.done) + len(outcome.pending)
            back = ngettext("Taken back: {act}, {n} object.", "Taken back: {act}, {n} objects.", n)
            return back.format(act=act_words.act(row.entry.action), n=text.count(n))

        if way.begins:
            said = _("{act} in {s} s").format(act=act_words.act(way.by), s=HOLD_MANY_S)
            self.acting.delayed(said, call, done, HOLD_MANY_S, about=[(HELD, row.key)])
        else:
            self.acting.at_once(call, done)
