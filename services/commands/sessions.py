"""What an operator may do to the sessions of shops: say that one is logged in again, or that it must be first."""

from __future__ import annotations

from collections.abc import Callable

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.change import CloseSession, OpenSession
from services.domain.errors import UsageError
from services.domain.gates import session
from services.domain.task import classify
from services.domain.text.said import said
from services.engine.lead.opener import Opener
from services.engine.steps import Steps
from services.i18n import N_
from services.ports import Store


class SessionCommands:
    """Audited commands on the session gates of shops."""

    def __init__(self, store: Store, steps: Steps, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._audit, self._operator = store, steps, audit, operator
        self._opener = Opener(store, steps)

    def open(self, shop: str, *, note: str = "") -> bool:
        """A person has logged a shop (``platform:shop_id``) in: note it, and let its parked tasks go. False when its
        gate was not closed.

        Raises:
            UsageError: that is no shop, or the note is too long.
        """
        self._audit.need(self._operator, "operator", "session.open", [shop])
        _check(shop)
        session.check_note(note)
        was = {one.shop: one for one in self._store.sessions()}.get(shop)
        detail = {"note": note} if note else {}
        detail |= {"kind": was.kind, "task": was.task_id} if was is not None else {}
        with self._audit.act("session.open", [shop], detail or None):
            (answer,) = self._steps.apply([OpenSession(shop=shop, by=self._operator.who)])
            self._opener.open_shops([shop])  # what this does not open, the reconciler does within its next rounds
        return answer.code == "ok"

    def login(self, shop: str, browse: Callable[[], bool], *, note: str = "", node: str = "") -> bool:
        """Let a person log a shop in: ``browse`` opens its browser here, waits for its end and tells whether the shop
        is logged in; then ``open`` follows. One entry of the audit stands for both.

        ``node``: where this browser's profile lives. A shop that is at home nowhere yet is at home there from now on,
        if a worker runs there: its first task would start with the profile of any other node, and without this login.

        Raises:
            UsageError: that is no shop, or the note is too long.
        """
        self._audit.need(self._operator, "operator", "session.login", [shop])
        _check(shop)
        session.check_note(note)
        with self._audit.as_one("session.login", [shop], {"note": note} if note else None) as act:
            if not browse():
                act.refused(N_("the browser was closed before the shop was logged in"))
                return False
            if any(info.node == node != "" for info in self._store.workers()) and not self._store.homes([shop]):
                self._store.put_home(shop, node)
                act.outcome = f"done: the shop is at home on {node} now"
            self.open(shop, note=note)
        return True

    def close(self, shop: str, *, kind: str = classify.LOGIN_EXPIRED, note: str = "") -> bool:
        """Start no task of a shop until somebody has logged it in. False when its gate is closed already.

        Raises:
            UsageError: that is no shop, or ``kind`` is neither login_expired nor captcha.
        """
        self._audit.need(self._operator, "operator", "session.close", [shop])
        _check(shop)
        session.check(kind, note)
        with self._audit.act("session.close", [shop], {"kind": kind} | ({"note": note} if note else {})) as act:
            op = CloseSession(shop=shop, kind=kind, by=self._operator.who, note=note)
            (answer,) = self._steps.apply([op])
            if answer.code != "ok":
                act.refused(N_("it is closed already"))
        return answer.code == "ok"


def _check(shop: str) -> None:
    if ":" not in shop:
        raise UsageError(said("shop.written", shop=f"{shop!r:.80}"), field="shop")
