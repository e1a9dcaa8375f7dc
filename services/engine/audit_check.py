"""Reads the whole audit, or the newest of it, and says whether it is as it was written."""

from __future__ import annotations

from msgspec.structs import replace

from services.audit_witness import Witness
from services.domain.insight.audit import Judge, Verdict, both
from services.ports import Store

PAGE = 500


def check(store: Store, witness: Witness | None = None, *, newest: int = 0) -> Verdict:
    """The verdict over all rows, or over the ``newest`` so many. What is found is looked at a second time: others may
    have been writing.

    Where all is well the heads are kept on this machine, as what it has seen. Blocking.
    """
    sight = witness.sight() if witness is not None else None
    found, heads = _look(store, witness, newest)
    if found.wrong:
        again, heads = _look(store, witness, newest)
        found = both(found, again)
    if not found.wrong and not found.accepted and witness is not None:
        witness.note([mark for mark in heads if mark not in witness.marks()])
    return replace(found, seen_since=sight.since, sight_lost=sight.lost) if sight is not None else found


def _look(store: Store, witness: Witness | None, newest: int) -> tuple[Verdict, list[str]]:
    witnessed = witness.marks() if witness is not None else []  # first: what is noted later may be read too late
    before = store.audit_heads()
    judge = Judge(now_ms=store.now_ms())
    place, left = 0, newest or -1
    while left and (rows := store.audit_rows(PAGE if left < 0 else min(PAGE, left), place)):
        for row in rows:
            judge.add(row)
        place = rows[-1].place
        left -= len(rows) if left > 0 else 0
    judge.whole = not (newest and not left and place and store.audit_rows(1, place))
    strays = store.audit_strays() if judge.whole else []
    return judge.verdict([*dict.fromkeys([*before, *store.audit_heads()])], witnessed, strays), before
