"""What an operator may do about promises: set them, switch them on and off, take them away."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.schedules import Checker
from services.domain.promises import promise as promises
from services.domain.promises.promise import KIND, STATE, VERSIONS, Promise
from services.domain.upkeep.stored import version_name, versions
from services.engine.registry import Registry
from services.engine.zone import need_readable_zone, settle_zone, zone_here
from services.i18n import N_
from services.ports import Store


class PromiseCommands:
    """Audited commands; ``known``, ``names``, ``zone`` and ``checked`` only look."""

    def __init__(
        self, store: Store, registry: Registry, audit: Audit, operator: Operator, own_zone: Callable[[], str]
    ) -> None:
        """``own_zone``: of this machine; it becomes the fleet's where nobody has set that."""
        self._store, self._audit, self._operator, self._own_zone = store, audit, operator, own_zone
        self._checker = Checker(store, registry)

    def zone(self) -> str:
        """The fleet's time zone, in which hours are meant, or what it would become."""
        return zone_here(self._store, self._own_zone)

    def known(self) -> list[Promise]:
        """All that can be read, by name. Blocking."""
        return list(promises.readable(self._store.documents(KIND)))

    def names(self) -> list[str]:
        """Of all that is stored, also what cannot be read."""
        return sorted(self._store.documents(KIND))

    def checked(self, promise: Promise) -> Promise:
        """What would be kept of a promise: with its shops by their full names, its version and who wrote it.

        Raises:
            UsageError: it cannot be promised; ``field`` names what to change.
        """
        promises.check(promise)
        found = self._checker.named(promise)
        self._checker.check_words(found)
        now, before = self._store.now_ms(), self._find(found.name)
        version = (
            before.version + 1
            if before is not None
            else max((0, *versions(self._store.documents(VERSIONS), found.name))) + 1
        )
        kept = before is not None and before.enabled and promises.same_words(before, found)
        return msgspec.structs.replace(
            found,
            version=version,
            since=before.since if before is not None and kept else now,
            created_by=before.created_by if before is not None else self._operator.who,
            created_at=before.created_at if before is not None else now,
            updated_by=self._operator.who,
            updated_at=now,
        )

    def set(self, promise: Promise) -> Promise | None:
        """Promise this, in the place of what has this name; returns that.

        Raises:
            UsageError: it cannot be promised; ``field`` names what to change.
            Unreadable: the time zone of the fleet is.
        """
        self._audit.need(self._operator, "operator", "promise.set", [promise.name])
        need_readable_zone(self._store)
        made, before = self.checked(promise), self._find(promise.name)
        detail = msgspec.to_builtins(made) | ({"before": msgspec.to_builtins(before)} if before is not None else {})
        with self._audit.act("promise.set", [made.name], detail):
            settle_zone(self._store, self.zone())
            self._put(made, before)
        return before

    def enable(self, name: str, *, enabled: bool, note: str = "") -> bool:
        """Judge a promise again from now on, or no longer; False where that is so already.

        Raises:
            UsageError: there is none of this name.
        """
        self._audit.need(self._operator, "operator", "promise.enable", [name])
        before = self._find(name)
        if before is None:
            promises.refuse_unknown(name)
        detail = {"enabled": enabled} | ({"note": note} if note else {})
        with self._audit.act("promise.enable", [name], detail) as act:
            if before.enabled == enabled:
                act.refused(N_("it is so already"))
                return False
            now = self._store.now_ms()
            made = msgspec.structs.replace(
                before,
                enabled=enabled,
                version=before.version + 1,
                since=now if enabled else before.since,
                updated_by=self._operator.who,
                updated_at=now,
            )
            self._put(made, before)
        return True

    def remove(self, name: str, *, note: str = "") -> bool:
        """Take a promise away; what it was stays among the versions. False when there was none."""
        self._audit.need(self._operator, "operator", "promise.remove", [name])
        before = self._find(name)
        detail = {"note": note} if note else {}
        detail |= {"before": msgspec.to_builtins(before)} if before is not None else {}
        with self._audit.act("promise.remove", [name], detail or None) as act:
            if before is not None:
                self._keep(before)
            was = self._store.remove_document(KIND, name)
            self._store.remove_document(STATE, name)
            if not was:
                act.refused(N_("there is none of this name"))
        return was

    def _find(self, name: str) -> Promise | None:
        return next((one for one in self.known() if one.name == name), None)

    def _put(self, made: Promise, before: Promise | None) -> None:
        """What it was goes first: a change that is interrupted here has lost nothing."""
        if before is not None:
            self._keep(before)
        self._store.put_document(KIND, made.name, promises.DOCUMENT.dump(made))

    def _keep(self, before: Promise) -> None:
        self._store.put_document(VERSIONS, version_name(before.name, before.version), promises.DOCUMENT.dump(before))
