"""Keeps the tabs of the task list, their numbers, and for each view the columns and order it was left with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from services.domain.errors import ConsoleError
from services.domain.task.search.query import Counts
from services.domain.task.search.shared_view import SharedView
from services.i18n import N_, _
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.name import NameDialog
from views.kit.saved_views import SavedViews, View
from views.pages.tasks.views import BUILT_IN, numbers
from views.support import safe, text
from views.support.acting import tell_done
from views.support.operation import Operation
from views.tables.table_view import TableView
from views.widgets.toast import ToastAction, ToastSpec, failure
from views.widgets.view_tabs import ViewTab, ViewTabs

COUNT_MS = 2000


class ViewKeeper(QObject):
    """Signals:
    shown: a person chose a view, its columns stand already (``View``).
    save_wanted: the present filter shall become a view.
    change_wanted: the view with this key shall have the present filter.
    """

    shown = Signal(object)
    save_wanted = Signal()
    change_wanted = Signal(str)

    def __init__(self, context: PageContext, tabs: ViewTabs, table: TableView, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._tabs, self._table, self._owner = context, tabs, table, owner
        self._saved = SavedViews(context.memory, BUILT_IN, "tasks")
        self._design = table.layout_of_columns.save()
        self._current = BUILT_IN[0]
        self._told: tuple[View, ...] = ()  #: what the tabs show
        self._numbers: dict[str, int] = {}
        self._narrowed: tuple[str, int | None] | None = None  # filter in the bar that is not the view's own, and total
        self._counting = Operation(self, latest=True)
        self._timer = QTimer(self, interval=COUNT_MS)
        self._timer.timeout.connect(self._count_own)
        table.layout_of_columns.kept_by_page = True
        table.layout_of_columns.arranged.connect(self.keep_layout)
        tabs.chosen.connect(self._on_chosen)
        tabs.chosen_again.connect(self._on_again)
        tabs.save_wanted.connect(self.save_wanted)
        tabs.rename_wanted.connect(self._rename)
        tabs.remove_wanted.connect(self._remove)
        tabs.share_wanted.connect(self._share)
        tabs.change_wanted.connect(self.change_wanted)
        self._looking, self._acting = Operation(self, latest=True), Operation(self)
        self._forbidden = ""
        self._heard = False  #: whether the fleet has told what it shares
        self._taken_away = ""  #: the view of the fleet that was taken away here last
        self._changing = ""  #: the one that is being changed here
        self._made = ("", 0)  #: key and version of the one that was changed here last
        self.retranslate()
        self._restore()

    @property
    def current(self) -> View:
        """The view shown."""
        return self._current

    @property
    def views(self) -> tuple[View, ...]:
        """All views, in the order of their tabs."""
        return self._saved.all()

    def set_active(self, active: bool) -> None:
        """Count own views only while the page is seen; remember columns when it is left."""
        if active:
            self._timer.start()
            self._count_own()
        else:
            self._timer.stop()
            self.keep_layout()

    def go(self, key: str) -> None:
        """Show a view without asking for its tasks."""
        self._tabs.set_current(key)
        self._switch(key)

    def go_to_filter(self, expression: str) -> None:
        """Show the view that has this filter, else all; one of the fleet comes once that has told what it shares."""
        known = self._saved.all()
        self.go(next((view.key for view in known if view.filter == expression), known[0].key))

    def keep_layout(self) -> None:
        """Remember columns and order of the present view."""
        self._saved.keep_layout(self._current.key, self._table.layout_of_columns.save())

    def save(self, expression: str, *, newest: bool, said: str) -> None:
        """Ask for a name and keep the filter under it; ``said``: the filter in words."""
        dialog = NameDialog(N_("Save view"), "", said or _("All"), parent=self._owner, why_not=self._saved.why_not)
        dialog.named.connect(partial(self._save, expression, newest))
        dialog.open()

    # numbers

    def number_of(self, expression: str) -> int | None:
        """How many tasks the present view has, None where another filter stands in the bar."""
        return self._numbers.get(self._current.key) if expression == self._current.filter else None

    def show_counts(self, counts: Counts) -> None:
        """Take the counters of a look at the fleet."""
        self._numbers.update(numbers(counts))
        self._say_numbers()

    def note_asked(self, expression: str) -> None:
        """A list is asked for; under a filter that is not the view's own no tab keeps the number of another list."""
        if expression == self._current.filter:
            self._narrowed = None
        elif self._narrowed is None or self._narrowed[0] != expression:
            self._narrowed = (expression, None)
        self._say_numbers()

    def note_total(self, expression: str, total: int | None) -> None:
        """A list was answered: an own view shows what its list says."""
        self._narrowed = (expression, total) if expression != self._current.filter else None
        self._say_numbers()
        if (self._current.own or self._current.shared) and expression == self._current.filter and total is not None:
            self._numbers[self._current.key] = total
            self._say_numbers()

    def retranslate(self) -> None:
        self._told = self._saved.all()
        self._tabs.set_views(
            [
                ViewTab(
                    key=view.key,
                    title=view.shown,
                    own=view.own,
                    shared=view.shared.by if view.shared is not None else "",
                )
                for view in self._told
            ]
        )
        self._say_numbers()

    def _say_numbers(self) -> None:
        found: dict[str, str] = {}
        for view in self._saved.all():
            number = self._numbers.get(view.key)
            if self._narrowed is not None:  # beside what this tab lists now, numbers of all tasks would say otherwise
                number = self._narrowed[1] if view.key == self._current.key else None
            found[view.key] = "" if number is None else text.compact(number)
        self._tabs.set_numbers(found)

    def _count_own(self) -> None:
        self._look()
        own = self._saved.counted()
        if own and not self._counting.busy:
            call = partial(_count, self._context.tasks, [(view.key, view.filter) for view in own])
            # a view that cannot be counted shows no number; its list tells why when it is opened
            self._counting.start(call, self._show_own, lambda _error: None)

    def _show_own(self, found: Mapping[str, int]) -> None:
        self._numbers.update({key: number for key, number in found.items() if key != self._current.key})
        self._numbers.update({key: number for key, number in found.items() if key not in self._numbers})
        self._say_numbers()

    # by hand

    def _on_chosen(self, key: str) -> None:
        self._switch(key)
        self.shown.emit(self._current)

    def _on_again(self, key: str) -> None:
        """Back to its own filter."""
        if key == self._current.key and self._narrowed is not None:
            self._narrowed = None
            self.shown.emit(self._current)

    def _switch(self, key: str) -> None:
        self._narrowed = None
        self.keep_layout()
        self._current = self._saved.get(key)
        self._restore()

    def _restore(self) -> None:
        self._table.layout_of_columns.restore({**self._design, **self._saved.layout(self._current.key)})

    def _save(self, expression: str, newest: bool, name: str) -> None:
        same = next((one for one in self._saved.own() if one.title == name), None)
        if same is not None:
            stands_here = same.key == self._current.key  # the change itself shows it then
            self.change(same.key, expression, newest=newest)
            if not stands_here:
                self.go(self._saved.again(self._saved.get(same.key)).key)
                self.shown.emit(self._current)
            return
        view = self._saved.add(name, expression, newest=newest)
        self._saved.keep_layout(view.key, self._table.layout_of_columns.save())
        self.retranslate()
        self._stand_at(view)
        self._count_own()
        self.shown.emit(self._current)

    def _stand_at(self, view: View) -> None:
        """Of one's own that the fleet shares as it stands there is only the tab of the fleet's."""
        self._current = self._saved.again(view)
        self._tabs.set_current(self._current.key)

    def change(self, key: str, expression: str, *, newest: bool) -> None:
        """Let a view have this filter, and the columns and the order that stand here."""
        view, layout = self._saved.get(key), self._table.layout_of_columns.save()
        if view.shared is not None:
            wanted = msgspec.structs.replace(view.shared, filter=expression, newest=newest, layout=layout)
            self._share_anew(view.shared, wanted)
        elif view.own:
            before = self._saved.layout(key)
            self._put(msgspec.structs.replace(view, filter=expression, newest=newest), layout)
            said = N_("{view} is what is shown here now")
            self._offer_undo(partial(_of_view, said, view.title), partial(self._put, view, before))

    def _put(self, view: View, layout: Mapping[str, Any]) -> None:
        """Let an own view be this."""
        self._saved.change(view)
        self._saved.keep_layout(view.key, layout)
        self._numbers.pop(view.key, None)
        self.retranslate()
        if view.key == self._current.key:
            self._narrowed = None
            self._stand_at(view)
            self._restore()
            self.shown.emit(self._current)
        self._count_own()

    # with everybody

    def forbid(self, reason: str) -> None:
        """Nothing may be changed for everybody now for this reason; "" when it may."""
        self._forbidden = reason

    def _look(self) -> None:
        """What the fleet shares; where the store does not answer, what is known stays."""
        if not self._looking.busy:
            self._look_again()

    def _look_again(self) -> None:
        """Whatever is on its way: it may be older than what was just done."""
        self._looking.start(self._context.commands.views.known, self._take, lambda _error: None)

    def _take(self, found: Sequence[SharedView]) -> None:
        first, self._heard = not self._heard, True  # what is shared from now on carries nobody off
        self._saved.set_shared(found)
        if self._saved.all() == self._told:
            return
        before, self._current = self._current, self._saved.again(self._current)
        self.retranslate()
        if first and (same := self._same_of_fleet()) is not None:
            self._tabs.choose(same.key)
            return
        if before.key != self._current.key:  # somebody, or another window, took it away
            self._tabs.set_current(self._current.key)
            self._restore()
        mine = before.shared is not None and before.shared.key == self._taken_away
        if mine:
            self._taken_away = ""
        if before.shared is not None and self._current == BUILT_IN[0] and not mine:
            self._leave_filter(before)
            words = _("Somebody shares {view} no more").format(view=safe.one_line(before.title, 60))
            detail = _("Its filter stays here; save it to keep it.")
            self._context.toast(ToastSpec(text=words, detail=detail, status="warning", key="view-gone"))
        elif before.filter != self._current.filter:
            self._show_changed(before)

    def _same_of_fleet(self) -> View | None:
        """The view of the fleet whose filter stands here, where the present view has another."""
        here = self._narrowed[0] if self._narrowed is not None else ""
        return next((view for view in self._saved.all() if here and view.shared and view.filter == here), None)

    def _show_changed(self, before: View) -> None:
        """The view that stands here has another filter."""
        now = self._current.shared
        if before.shared is None or now is None or self._changing == now.key or (now.key, now.version) == self._made:
            self.shown.emit(self._current)
            return
        self._leave_filter(before)
        who, title = safe.one_line(now.by, 60), safe.one_line(now.title, 60)
        show = ToastAction(text=_("Show it"), call=partial(self._show_again, self._current.key))
        self._context.toast(
            ToastSpec(
                text=_("{who} changed the filter of {view}").format(who=who, view=title),
                detail=_("Here the one from before stays until you choose the view again."),
                status="warning",
                actions=(show,),
                key="view-gone",
            )
        )

    def _show_again(self, key: str) -> None:
        """Of whichever view is open by then, this one is meant."""
        self._tabs.choose(key)
        self._on_again(key)

    def _leave_filter(self, before: View) -> None:
        """What somebody else changes goes on being listed: who is about to act on it would act on other tasks."""
        if self._narrowed is None:
            self._narrowed = (before.filter, self._numbers.get(before.key))
        self._say_numbers()

    def _share(self, key: str) -> None:
        view = self._saved.get(key)
        if key == self._current.key:
            self.keep_layout()
        layout = dict(self._saved.layout(key))
        wanted = SharedView(key="", title=view.title, filter=view.filter, newest=view.newest, layout=layout)
        self._do(
            partial(self._context.commands.views.share, wanted),
            lambda made: self._tell(
                partial(_of_view, N_("{view} is shared with the fleet"), made.title),
                partial(self._context.commands.views.remove, made.key),
            ),
        )

    def _rename_for_all(self, shared: SharedView, name: str) -> None:
        renamed = msgspec.structs.replace(shared, title=name)
        self._do(
            partial(self._context.commands.views.share, renamed),
            lambda made: self._tell(
                lambda: _of_view(N_("{view} is now called {name}"), shared.title, name=made.title),
                partial(self._context.commands.views.share, msgspec.structs.replace(made, title=shared.title)),
            ),
        )

    def _share_anew(self, shared: SharedView, wanted: SharedView) -> None:
        self._put_for_all(
            wanted,
            lambda made: self._offer_undo(
                partial(_of_view, N_("{view} is what is shown here now"), made.title),
                partial(self._put_for_all, msgspec.structs.replace(shared, version=made.version), lambda _made: None),
            ),
        )

    def _put_for_all(self, wanted: SharedView, done: Callable[[SharedView], None]) -> None:
        self._changing = "" if self._forbidden else wanted.key
        self._do(partial(self._context.commands.views.share, wanted), done)

    def _remove_for_all(self, shared: SharedView) -> None:
        self._taken_away = "" if self._forbidden else shared.key
        self._do(
            partial(self._context.commands.views.remove, shared.key),
            lambda _was: self._tell(
                partial(_of_view, N_("{view} is shared no more"), shared.title),
                partial(self._context.commands.views.share, shared),
            ),
        )

    def _do(self, act: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Off the GUI thread; what is refused is told."""
        if self._forbidden:
            self._context.toast(ToastSpec(text=self._forbidden, status="warning"))
            return
        self._acting.start(act, partial(self._done, done), self._refused)

    def _done(self, done: Callable[[Any], None], answer: object) -> None:
        self._changing = ""
        if isinstance(answer, SharedView):
            self._made = (answer.key, answer.version)
        done(answer)
        self._look_again()

    def _refused(self, error: BaseException) -> None:
        self._taken_away = self._changing = ""
        self._context.toast(failure(error, N_("The shared views stay as they were.")))
        self._look_again()

    def _tell(self, say: Callable[[], str], back: Callable[[], object]) -> None:
        self._offer_undo(say, partial(self._do, back, lambda _answer: None))

    def _offer_undo(self, say: Callable[[], str], back: Callable[[], None]) -> None:
        tell_done(self._context.toast, say, back)

    def _rename(self, key: str) -> None:
        why_not = partial(self._saved.taken, key)
        dialog = NameDialog(N_("Rename view"), self._saved.get(key).title, parent=self._owner, why_not=why_not)
        shared = self._saved.get(key).shared
        named = partial(self._renamed, key) if shared is None else partial(self._rename_for_all, shared)
        dialog.named.connect(named)
        dialog.open()

    def _renamed(self, key: str, name: str) -> None:
        self._saved.rename(key, name)
        self._current = self._saved.get(self._current.key)
        self.retranslate()

    def _remove(self, key: str) -> None:
        if (shared := self._saved.get(key).shared) is not None:
            self._remove_for_all(shared)
            return
        here, title = key == self._current.key, self._saved.get(key).title
        back = self._saved.remove(key)
        if back is None:  # another window removed it a moment ago
            self._look()
            return
        self._numbers.pop(key, None)
        if here:
            self._current = BUILT_IN[0]
            self._restore()
        self.retranslate()
        if here:
            self._tabs.set_current(self._current.key)
            self.shown.emit(self._current)
        self._offer_undo(partial(_of_view, N_("{view} is removed"), title), partial(self._put_back, back))

    def _put_back(self, back: Callable[[], None]) -> None:
        back()
        self.retranslate()
        self._count_own()


def _count(queries: TaskQueries, wanted: Sequence[tuple[str, str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, expression in wanted:
        try:
            total = queries.page(expression, limit=1).total
        except ConsoleError:
            continue
        if total is not None:
            found[key] = total
    return found


def _of_view(said: str, title: str, **more: str) -> str:
    """A sentence, source text, about a view."""
    return _(said).format(view=safe.one_line(title, 60), **more)
