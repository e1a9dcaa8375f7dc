"""What is done to shops and limits from the page; every act is an audited command, told with the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from services.domain.gates import limit as limits
from services.domain.gates import paused
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.i18n import N_, _, ngettext
from services.monitor.shops.queries import ScopeRow, ShopRow
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Finding, Question
from views.dialogs.resuming import ask_to_resume
from views.dialogs.shop_login import ShopLogin
from views.pages.shops import words
from views.support import text
from views.support.operation import Operation
from views.widgets.toast import ToastAction, ToastSpec, failure

UNDO_S = 10


class ShopActions(QObject):
    """Signals:
    changed: something was done, or refused; ask again.
    """

    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._operation = Operation(self)
        self._login = ShopLogin(context, owner)
        self._login.changed.connect(self.changed)
        self._forbidden = ""

    def forbid(self, reason: str) -> None:
        """Change nothing from now on, for this reason, already translated; "" allows it again."""
        self._forbidden = reason

    def barred(self, role: str = "operator") -> str:
        """Why nothing can be changed, "" when it can; ``role`` is the least that may."""
        if self._forbidden:
            return self._forbidden
        have = self._context.role
        if have == "viewer":
            return _("Your role may only look")
        return _("Only an admin may change this") if role == "admin" and have != "admin" else ""

    # shops

    def set_concurrency(self, row: ShopRow, number: int) -> None:
        """Change how many tasks of a shop run at once."""
        fleet, before = self._context.commands.fleet, row.shop.concurrency
        said = ngettext("{shop} may run {n} task at once now.", "{shop} may run {n} tasks at once now.", number).format(
            shop=words.name(row), n=number
        )
        self._act(
            partial(fleet.set_concurrency, row.key, number), said, partial(fleet.set_concurrency, row.key, before)
        )

    def dedicate(self, row: ShopRow, *, on: bool) -> None:
        """Give a shop a queue of its own, or let its tasks go through the lanes again."""
        fleet = self._context.commands.fleet
        there, back = (fleet.dedicate, fleet.undedicate) if on else (fleet.undedicate, fleet.dedicate)
        said = _("{shop} has a queue of its own now.") if on else _("{shop} goes through the lanes again.")
        self._act(partial(there, row.key), said.format(shop=words.name(row)), partial(back, row.key))

    def pause(self, row: ShopRow, *, on: bool) -> None:
        """Let nothing of a shop start, or let it go on."""
        fleet, scope = self._context.commands.fleet, f"shop:{row.key}"
        if not on:
            self.resume(row, scope)
            return
        said = _("{what} is paused; running tasks go on.").format(what=words.name(row))
        self._act(partial(fleet.pause, scope), said, partial(fleet.resume, scope))

    def resume(self, row: ShopRow, scope: str) -> None:
        """End a pause that holds a shop: its own, that of its platform, of a type or of everything; asked where it is
        somebody else's or has a note.
        """
        pause = next((one for one in row.now.pauses if (one.gate, one.scope) == (paused.GATE, scope)), None)
        fleet = self._context.commands.fleet
        again = partial(fleet.pause, scope, reason=pause.reason if pause is not None else "")
        what = words.paused_scope(row, scope)
        go = partial(self._act, partial(fleet.resume, scope), _("{what} goes on.").format(what=what), again)
        asks = (self._context.commands.operator.who, self._context.feed.latest.at_ms)
        ask_to_resume(pause, what, asks, self._owner, go)

    def close_breaker(self, row: ShopRow) -> None:
        """Forget the failures of a shop, after a look at them."""
        found = row.now.breaker
        if found is None:
            return
        question = Question(
            title=N_("Let the shop run again"),
            rows=((_("shop"), words.name(row)), (_("waiting"), text.count(row.now.waiting))),
            findings=(Finding("blocked", words.failures(found), words.last_failure(found)),),
            text=_(
                "Its failures are forgotten and what waits starts at once. If nothing was put right, it fails again."
            ),
            verb=_("Let it run again"),
            note=_("Note, kept in the audit trail"),
        )
        dialog = ConfirmDialog(question, self._owner)
        dialog.confirmed.connect(lambda: self._close(row, dialog.note))
        dialog.open()

    def open_session(self, row: ShopRow) -> None:
        """Somebody has logged a shop in: note it, and let its tasks go on."""
        self._login.go_on(row.key)

    def log_in(self, row: ShopRow) -> None:
        """Open the shop's browser for a person."""
        self._login.begin(row.key)

    def _close(self, row: ShopRow, note: str) -> None:
        close = partial(self._context.commands.breakers.close, row.key, note=note)
        self._act(close, _("{shop} runs again.").format(shop=words.name(row)))

    # rules and limits

    def set_rule(self, rule: Rule) -> None:
        """Change when breakers open."""
        breakers = self._context.commands.breakers

        def change() -> Rule:
            before = breakers.rule()
            breakers.set_rule(rule)
            return before

        self._act(change, words.rule(rule), take_back=lambda before: partial(breakers.set_rule, before))

    def set_limit(self, row: ScopeRow, concurrency: int, per_minute: int) -> None:
        """Limit a platform or a type; 0 is no limit."""
        said = _("The limit of {name} is changed.").format(name=words.scope_name(row))
        before = row.now.limit
        there = partial(self._limit, row.key, concurrency, per_minute)
        self._act(there, said, partial(self._limit, row.key, before.concurrency, before.per_minute))

    def _limit(self, scope: str, concurrency: int, per_minute: int) -> None:
        fleet = self._context.commands.fleet
        head, _colon, name = scope.partition(":")
        if head == limits.TYPE:
            fleet.limit_type(name, concurrency=concurrency, per_minute=per_minute)
        else:
            fleet.set_limit(Limit(scope=scope, concurrency=concurrency, per_minute=per_minute))

    def _act(
        self,
        call: Callable[[], object],
        said: str,
        back: Callable[[], object] | None = None,
        *,
        take_back: Callable[[Rule], Callable[[], object]] | None = None,
    ) -> None:
        def tell(result: object) -> None:
            undo = take_back(result) if take_back is not None and isinstance(result, Rule) else back
            actions = (ToastAction(text=_("Undo"), call=partial(self._undo, undo)),) if undo is not None else ()
            self._context.toast(ToastSpec(text=said, status="healthy", actions=actions, seconds=UNDO_S))
            self.changed.emit()

        self._operation.start(call, tell, self._fail)

    def _undo(self, back: Callable[[], object]) -> None:
        self._act(back, _("Taken back."))

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))
        self.changed.emit()
