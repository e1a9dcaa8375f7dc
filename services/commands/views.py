"""What an operator may do about the views of tasks that all of a fleet see: share them, change them, take them away."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Container, Mapping

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import UsageError
from services.domain.task.search import shared_view
from services.domain.task.search.shared_view import KIND, MOST, VERSIONS, SharedView
from services.domain.text.said import said
from services.domain.upkeep.stored import version_name, versions
from services.i18n import N_
from services.ports import Store


class ViewCommands:
    """Audited commands; ``known`` only looks."""

    def __init__(self, store: Store, audit: Audit, operator: Operator) -> None:
        self._store, self._audit, self._operator = store, audit, operator

    def known(self) -> list[SharedView]:
        """All that can be read, by title. Blocking."""
        return sorted(_readable(self._store.documents(KIND)), key=lambda one: (one.title, one.key))

    def share(self, view: SharedView) -> SharedView:
        """Let everybody see this, in the place of the view with its key; returns it as it is kept.

        Raises:
            UsageError: it cannot be shown, there are too many, or somebody changed it since this version was read.
        """
        self._audit.need(self._operator, "operator", "view.share", [view.title])
        shared_view.check(view, self._store.now_ms())
        bodies = self._store.documents(KIND)
        known = {one.key: one for one in _readable(bodies)}
        before = known.get(view.key)
        self._refuse(view, before, known)
        key = view.key or _key(view.title, known)
        last = (
            before.version
            if before is not None
            else max([view.version, *versions(self._store.documents(VERSIONS), key)])
        )
        made = msgspec.structs.replace(
            view,
            key=key,
            version=last + 1,  # never one that an older view of this key had
            by=self._operator.who,
            at=self._store.now_ms(),
        )
        detail = msgspec.to_builtins(made) | ({"before": msgspec.to_builtins(before)} if before is not None else {})
        with self._audit.act("view.share", [made.title], detail):
            if before is None:
                if not self._store.add_document(KIND, made.key, shared_view.DOCUMENT.dump(made)):
                    raise UsageError(said("view.title_taken", title=made.title), field="title")
            elif self._store.swap_document(KIND, made.key, bodies[made.key], shared_view.DOCUMENT.dump(made)):
                self._keep(before)
            else:
                raise UsageError(said("view.changed", by=before.by, title=before.title), field="version")
        return made

    def remove(self, key: str) -> SharedView | None:
        """Let nobody see it any more; returns what it was, which stays among the versions; None where there is none."""
        before = next((one for one in self.known() if one.key == key), None)
        title = before.title if before is not None else key
        self._audit.need(self._operator, "operator", "view.remove", [title])
        detail = {"before": msgspec.to_builtins(before)} if before is not None else None
        with self._audit.act("view.remove", [title], detail) as act:
            if before is not None:
                self._keep(before)
            if not self._store.remove_document(KIND, key):
                act.refused(N_("there is no such view"))
        return before

    def _refuse(self, view: SharedView, before: SharedView | None, known: dict[str, SharedView]) -> None:
        if before is not None and view.version != before.version:
            raise UsageError(said("view.changed", by=before.by, title=before.title), field="version")
        if any(one.title == view.title and one.key != view.key for one in known.values()):
            raise UsageError(said("view.title_taken", title=view.title), field="title")
        if before is None and len(known) >= MOST:
            raise UsageError(said("view.many", most=MOST), field="title")

    def _keep(self, before: SharedView) -> None:
        self._store.put_document(VERSIONS, version_name(before.key, before.version), shared_view.DOCUMENT.dump(before))


def _readable(bodies: Mapping[str, str]) -> list[SharedView]:
    return list(shared_view.DOCUMENT.readable(bodies).values())


def _key(title: str, known: Container[str]) -> str:
    """Of two who share under one name in the same moment only one is the first with its key."""
    key = f"v{hashlib.sha256(title.encode()).hexdigest()[:12]}"
    return key if key not in known else f"v{secrets.token_hex(6)}"
