"""The page's verbs: what buttons, menus and the bar ask for goes to the actions with the letters it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from services.domain.insight.cause import Worth
from services.domain.task import filter
from services.domain.task.query import equals
from services.domain.task.record import Task
from services.domain.task.status import Triage
from services.i18n import N_, _
from views.context import PageContext
from views.dialogs.republish.runs import RunsDialog
from views.dialogs.shop_login import ShopLogin
from views.pages.dead_letters.actions import LetterActions
from views.pages.dead_letters.asking import Wanted, letters_of
from views.pages.dead_letters.cause_actions import CauseActions
from views.pages.dead_letters.detail import LetterPanel
from views.pages.dead_letters.panes import CausePane, LetterPane
from views.pages.dead_letters.rows import LetterRow
from views.support.offers import offer
from views.support.operation import Operation
from views.support.words import verdicts
from views.tables.record_model import RecordModel

_STATES = ((Triage.OPEN, N_("Reopen")), (Triage.IGNORED, N_("Ignore")), (Triage.ARCHIVED, N_("Archive")))


class Verbs(QObject):
    """Signals:
    acted: something was decided about letters.
    causes_changed: something was decided about a cause.
    tasks_wanted: a filter that the Tasks page shall show.
    shop_wanted: the shop (``platform:shop_id``) that the Shops page shall show.
    """

    acted = Signal()
    causes_changed = Signal()
    tasks_wanted = Signal(str)
    shop_wanted = Signal(str)

    def __init__(self, context: PageContext, model: RecordModel[LetterRow], page: QWidget) -> None:
        super().__init__(page)
        self._context, self._model, self._page = context, model, page
        self.actions = LetterActions(context, page)
        self.whole = CauseActions(context, self.actions, page)
        self._login = ShopLogin(context, page)
        self._all = Operation(self)
        self._forbidden = ""
        self.actions.acted.connect(self.acted)
        self.actions.tasks_wanted.connect(self.tasks_wanted)
        self.actions.runs_wanted.connect(self.show_runs)
        self.whole.acted.connect(self.causes_changed)

    def connect_panes(
        self, causes: CausePane, letters: LetterPane, panel: LetterPanel, wanted: Callable[[], Wanted]
    ) -> None:
        """Listen to the three panes."""
        self._causes, self._letters, self._panel, self._wanted = causes.causes, letters, panel, wanted
        letters.table.menu_requested.connect(self.fill_menu)
        letters.bar.verb_wanted.connect(self.on_bulk)
        letters.bar.all_wanted.connect(self._tick_all)
        letters.bar.clear_wanted.connect(self._model.untick_all)
        letters.bar.new_rows_wanted.connect(self._model.show_new)
        letters.menu_wanted.connect(self._on_more)
        letters.republish_wanted.connect(self._republish_cause)
        letters.browser_wanted.connect(self._open_browser)
        letters.shops_wanted.connect(self.shop_wanted)
        letters.pause_wanted.connect(self._context.way_out)
        causes.causes.menu_wanted.connect(self._open_cause_menu)
        panel.republish_wanted.connect(self._on_republish)
        panel.triage_wanted.connect(self._on_triage)
        panel.new_task_wanted.connect(self._context.new_task)
        panel.editor.reveal_wanted.connect(self._on_reveal)
        panel.task_wanted.connect(self._open_task)

    def set_acting(self, reason: str) -> None:
        """Decide nothing, for this reason, already translated; "" decides again. A run that goes on can be stopped."""
        self._forbidden = reason
        self._letters.bar.set_acting(reason)
        self._letters.set_acting(reason)
        self._panel.set_acting(reason)

    # letters

    def on_bulk(self, verb: str) -> None:
        """Do something with those that are ticked."""
        if self._forbidden:
            return
        ids = [str(key) for key in self._letters.table.target_keys()]
        if verb == "republish":
            if self.refused(ids):
                return
            self.actions.republish(ids, self._letters.title(), self._model.untick_all, worth=self._worth())
        else:
            self.actions.triage(ids, verb, self._wanted().triage)
            self._model.untick_all()

    def _worth(self) -> Worth | None:
        """Whether letters of the cause that is shown would pass now, None where nobody has said."""
        cause = self._causes.causes.find(self._wanted().cause)
        return cause.worth if cause is not None else None

    def refused(self, ids: Iterable[str]) -> str:
        """Why none of these letters could be republished as they are, as far as their rows tell; "" where one could."""
        rows = map(self._model.find, ids)
        return verdicts.barred(row.refusal if row is not None else None for row in rows)

    def fill_menu(self, menu: QMenu, key: object) -> None:
        """Offer what suits a letter, or those that are ticked."""
        ids = [str(key)] if not self._model.ticked() else [str(one) for one in self._letters.table.target_keys()]
        now = self._wanted().triage
        again = partial(self.actions.republish, ids, self._letters.title(), worth=self._worth())
        offer(menu, _("Republish"), again, self._forbidden or self.refused(ids))
        for triage, title in _STATES:
            if triage != now:
                offer(menu, _(title), partial(self.actions.triage, ids, triage, now), self._forbidden)
        menu.addAction(_("Open in Tasks"), partial(self._open_task, str(key)))

    def _tick_all(self) -> None:
        self._all.start(partial(letters_of, self._context.tasks, self._wanted()), self._tick)

    def _tick(self, letters: list[Task]) -> None:
        self._model.set_ticked([task.task_id for task in letters])

    def _on_republish(self, task: Task, payload: object) -> None:
        if isinstance(payload, dict):
            self.actions.republish_edited(task, payload)
        else:
            self.actions.republish([task.task_id], worth=self._panel.worth)

    def _on_reveal(self, task_id: str) -> None:
        self.actions.reveal(task_id, partial(self._panel.editor.reveal, task_id))

    def _on_triage(self, task_id: str, to: str, before: str) -> None:
        self.actions.triage([task_id], to, before)

    def _open_task(self, task_id: str) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", task_id),)))

    def show_runs(self) -> None:
        """Show what became of the bulk runs, the newest first."""
        dialog = RunsDialog(lambda: self._context.commands.bulk, self.actions.runner, self._forbidden, self._page)
        dialog.tasks_wanted.connect(self.tasks_wanted)
        dialog.finished.connect(lambda _result: self.acted.emit())
        dialog.open()

    # causes

    def _on_more(self, place: QPoint) -> None:
        self._open_cause_menu(self._wanted().cause, place)

    def _open_browser(self, shop: str) -> None:
        if not self._forbidden:
            self._login.begin(shop)

    def _republish_cause(self) -> None:
        wanted = self._wanted()
        cause = self._causes.causes.find(wanted.cause)
        if cause is not None and not self._forbidden:
            self.whole.republish_all(wanted, cause)

    def _open_cause_menu(self, fingerprint: str, place: QPoint) -> None:
        cause = self._causes.causes.find(fingerprint)
        if cause is not None:
            menu = QMenu(self._page)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.whole.fill_menu(menu, cause, self._wanted().triage, self._forbidden)
            menu.popup(place)
