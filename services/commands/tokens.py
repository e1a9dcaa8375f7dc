"""What an admin may do about tokens: make one for another program, list them, take one back."""

from __future__ import annotations

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import NotFound, UsageError
from services.domain.fleet import token
from services.domain.fleet.role import ADMIN, ROLES
from services.domain.fleet.token import Kept, Token
from services.domain.text.said import said
from services.engine import tokens
from services.ports import Store


class TokenCommands:
    """Audited; the text of a token is in no entry and in no document."""

    def __init__(self, store: Store, audit: Audit, operator: Operator) -> None:
        self._store, self._audit, self._operator = store, audit, operator

    def create(self, name: str, role: str, *, lasts_ms: int = token.DEFAULT_MS) -> tuple[str, Token]:
        """Make one. Returns its text, which nobody can ask for again, and what is kept of it. ``lasts_ms``: 0 for ever.

        Raises:
            UsageError: it cannot be called so, the name is taken, or there is no such role.
        """
        self._audit.need(self._operator, ADMIN, "token.create", [name[:64]])
        if not token.valid_name(name):
            raise UsageError(said("token.name", name=f"{name!r:.80}"), field="name")
        if role not in ROLES:
            raise UsageError(said("role.unknown", role=f"{role!r:.40}", known=", ".join(ROLES)), field="role")
        if not 0 <= lasts_ms <= token.MAX_MS:
            raise UsageError(said("token.lasts", days=token.MAX_MS // token.DAY_MS), field="expires")
        known = self._store.documents(token.KIND)
        if len(known) >= token.MAX_TOKENS:
            raise UsageError(said("token.many", most=token.MAX_TOKENS), field="name")
        text, now = token.fresh(), self._store.now_ms()
        until = now + lasts_ms if lasts_ms else 0
        kept = Kept(role=role, digest=token.digest(text), by=self._operator.who, at=now, until=until)
        with self._audit.act("token.create", [name], {"role": role, "until": until}):
            self._store.remove_document(token.USED, name)  # of an earlier one of this name
            if not self._store.add_document(token.KIND, name, token.DOCUMENT.dump(kept)):
                raise UsageError(said("token.taken", name=name), field="name")
        return text, Token(name=name, role=role, by=kept.by, at=now, until=until)

    def revoke(self, name: str) -> None:
        """Take one back; what it is used for ends with the next request.

        Raises:
            NotFound: there is none of this name.
        """
        self._audit.need(self._operator, ADMIN, "token.revoke", [name[:64]])
        if name not in self._store.documents(token.KIND):
            raise NotFound(said("token.unknown", name=f"{name!r:.80}"), field="name")
        with self._audit.act("token.revoke", [name]):
            self._store.remove_document(token.KIND, name)
            self._store.remove_document(token.USED, name)

    def known(self) -> tuple[Token, ...]:
        """All of them by name, ended ones too; everybody may know who acts here."""
        return tokens.tokens(self._store)
