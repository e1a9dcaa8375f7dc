"""The index of payload fields on Redis: which there are, built and forgotten in slices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from services.domain.errors import StoreError, StoreUnavailable
from services.domain.task.record import ENCODER
from services.domain.task.search.payload_match import BETWEEN, index_terms
from services.store.redis import facts as redis_facts
from services.store.redis import keys
from services.store.redis.client import Link
from services.store.redis.reads import Reads
from services.store.redis.script import load
from services.store.unreadable import by_name, name_of

#: keys that one call looks at
SLICE = 1000
WHOLE, _BUILD, _FORGET = "whole", "build", "forget"
_FIELDS, _PAYLOADS = load("index_fields"), load("index_payloads")
_GLOB = re.compile(r"[\[\]?^-]")


def states(link: Link) -> dict[str, str]:
    """By field, how far its index is: ``whole``, or what is done up to which place, and on which run of the server."""
    return by_name(bytes.decode, link.call("HGETALL", keys.INDEXED), "field of the index")


class Payloads(Reads):
    """The calls of ``services.ports.upkeep.PayloadIndex``."""

    def indexed(self) -> Mapping[str, bool]:
        return {name: state == WHOLE for name, state in states(self._link).items() if not state.startswith(_FORGET)}

    def index_fields(self, names: Iterable[str]) -> None:
        self._link.check_writable()
        self._link.run(_FIELDS, (keys.META, keys.INDEXED), *dict.fromkeys(names))

    def index_more(self) -> bool:
        left = {name: state for name, state in states(self._link).items() if state != WHOLE}
        if not left:
            return False
        self._link.check_writable()
        for name, state in left.items():
            if state.startswith(_FORGET):
                self._forget(name, state)
                return True
        state = min(left.values())
        self._learn([name for name, other in left.items() if other == state], state)
        return True

    def _learn(self, fields: list[str], state: str) -> None:
        place, found = self._found_from(state, keys.TASK + "*")
        records = self.get([name_of(name).removeprefix(keys.TASK) for name in found]) if found else []
        items = [
            (keys.task(task.task_id), task.task_id, str(task.created_at), terms)
            for task in records
            if task is not None and (terms := index_terms(task.payload, fields))
        ]
        after = f"{_BUILD} {place}" if place else WHOLE
        self._link.run(_PAYLOADS, (keys.META, keys.INDEXED), ENCODER.encode(items), state, after, *fields)

    def _forget(self, name: str, state: str) -> None:
        escaped = _GLOB.sub(lambda sign: f"\\{sign[0]}", name)
        place, found = self._found_from(state, f"{keys.PAYLOAD}{escaped}{BETWEEN}*")
        if found:
            self._link.call("UNLINK", *found)
        if place:
            self._link.call("HSET", keys.INDEXED, name, f"{_FORGET} {place}")
        else:
            self._link.call("HDEL", keys.INDEXED, name)

    def _found_from(self, state: str, match: str) -> tuple[str, list[bytes]]:
        """The next keys, and the place behind them, "" at the end. A place means nothing to a server that was started
        since, or took over: it orders its keys anew for each run, so all of them are looked at again.
        """
        cursor, _, known = state.partition(" ")[2].partition(" ")
        run = self._run_of_server()
        begin = cursor if cursor.isdecimal() and run == known else "0"
        after, found = self._link.call("SCAN", begin, "MATCH", match, "COUNT", SLICE)
        return f"{int(after)} {run}".strip() if int(after) else "", found

    def _run_of_server(self) -> str:
        """Which run of which server this is, "" where this account may not ask."""
        try:
            return redis_facts.parsed(self._link.call("INFO", "server")).get("run_id", "")
        except StoreUnavailable:
            raise
        except StoreError:
            return ""
