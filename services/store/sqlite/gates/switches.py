"""What is closed by a switch at a moment: pauses, and what the documents of other gates close."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from services.domain.gates import listed, paused
from services.store.sqlite.part import words

_OF_KINDS = f"SELECT kind, name, body FROM documents WHERE kind IN ({', '.join('?' * len(listed.DOCUMENTS))})"


def shut(conn: sqlite3.Connection, now_ms: int) -> Mapping[str, frozenset[str]]:
    """Scopes by gate; those of a pause that cannot be read are among them. One question to the file for each."""
    found = {paused.GATE: frozenset(words(scope) for (scope,) in conn.execute("SELECT scope FROM pauses"))}
    documents: dict[str, dict[str, str]] = {}
    for kind, name, body in conn.execute(_OF_KINDS, tuple(listed.DOCUMENTS)) if listed.DOCUMENTS else ():
        documents.setdefault(words(kind), {})[words(name)] = words(body)
    for one in listed.switched((), documents, now_ms):
        found[one.gate] = found.get(one.gate, frozenset()) | {one.scope}
    return found
