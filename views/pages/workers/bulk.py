"""What is told to the workers that are ticked in the table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _, ngettext
from views.context import PageContext
from views.dialogs.confirm import Question, confirm
from views.kit.each import NAMED, Each
from views.kit.task_verb import FEW
from views.kit.verb import Verbs
from views.pages.workers.verbs import TWINS, OfWorker, WorkerVerb
from views.support import text

#: key of the verb for one of them, source text, icon
ACTS = (
    ("drain", N_("Drain"), "ph.download-simple"),
    ("resume", N_("Resume"), "ph.play"),
)


def counted(number: int) -> str:
    """So many workers in words."""
    return ngettext("{n} worker", "{n} workers", number).format(n=text.count(number))


class WorkerBulk(QObject):
    """Each act goes to those of them that it fits, as the verb of one says. A stop is no such act: what it interrupts
    differs from worker to worker, and is asked at each.

    Signals:
        ordered: worker, order: it was given and waits for the next heartbeat.
    """

    ordered = Signal(str, str)

    def __init__(self, context: PageContext, verbs: Verbs[WorkerVerb, OfWorker], owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._verbs, self._owner = context, verbs, owner
        self._each: Each[OfWorker] = Each(context, lambda of: of.info.worker, owner)

    def reasons(self, rows: Sequence[OfWorker]) -> dict[str, str]:
        """Why an act cannot be done to any of them, by its key."""
        found: dict[str, str] = {}
        for key, _word, _icon in ACTS:
            if rows and not self._fit(key, rows):
                why = [self._verbs.reason(self._verb(key), of) for of in rows]
                found[key] = next(filter(None, why), "") or _("Fits none of those that are ticked")
        return found

    def ask(self, key: str, rows: Sequence[OfWorker]) -> None:
        """Do it to all that it fits; asks first about many."""
        fit = self._fit(key, rows)
        if not fit:
            return
        if len(fit) <= FEW:
            self._run(key, fit)
            return
        confirm(partial(self._question, key, fit), self._owner, partial(self._run, key, fit))

    def _verb(self, key: str) -> WorkerVerb:
        return next(one for one in self._verbs.all if one.key == key)

    def _fit(self, key: str, rows: Sequence[OfWorker]) -> tuple[OfWorker, ...]:
        verb = self._verb(key)
        return tuple(of for of in rows if verb.fits(of) and not self._verbs.reason(verb, of))

    def _question(self, key: str, rows: Sequence[OfWorker]) -> Question:
        number, busy = len(rows), sum(of.now.busy for of in rows)
        running = ngettext("{n} task is running.", "{n} tasks are running.", busy).format(n=text.count(busy))
        named = [(of.info.worker, f"{of.now.busy} / {len(of.now.slots)}") for of in rows[:NAMED]]
        if number > len(named):
            named.append((_("and {n} more").format(n=text.count(number - len(named))), ""))
        said = {
            "drain": _("They take no new tasks and finish those that run."),
            "resume": _("They take tasks again."),
        }[key]
        verbs = {
            "drain": ngettext("Drain {n} worker", "Drain {n} workers", number),
            "resume": ngettext("Resume {n} worker", "Resume {n} workers", number),
        }
        titles = {"drain": N_("Drain workers"), "resume": N_("Resume workers")}
        return Question(
            title=titles[key],
            text=f"{running}\n\n{said}",
            rows=tuple(named),
            verb=verbs[key].format(n=text.count(number)),
        )

    def _run(self, key: str, rows: Sequence[OfWorker]) -> None:
        def done(number: int) -> str:
            return {
                "drain": ngettext("{n} worker is asked to drain.", "{n} workers are asked to drain.", number),
                "resume": ngettext("{n} worker is asked to resume.", "{n} workers are asked to resume.", number),
            }[key]

        self._each.run(rows, partial(self._tell, key), partial(self._tell, TWINS[key]), done)

    def _tell(self, order: str, of: OfWorker) -> None:
        worker = of.info.worker
        self._context.commands.fleet.tell_worker(worker, order)
        self.ordered.emit(worker, order)
