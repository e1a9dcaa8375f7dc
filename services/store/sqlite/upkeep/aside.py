"""What repair set aside on SQLite: the rows of one table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import msgspec

from services.domain.upkeep.damage import Aside, shown
from services.domain.upkeep.stored import calendar
from services.store.sqlite.part import Part, store_errors
from services.store.unreadable import WRONG


class SetAside(Part):
    """The call of ``services.ports.upkeep``."""

    def aside(self, limit: int) -> list[Aside]:
        """The latest ones first."""
        sql = "SELECT place, entry, at, why, data FROM aside ORDER BY id DESC LIMIT ?"
        with store_errors(self._file.path), closing(self._file.apart()) as conn:
            conn.text_factory = bytes  # what cannot be read here either must not keep the others from being told
            rows = conn.execute(sql, (limit,)).fetchall()
        return [
            Aside(place=shown(place), entry=shown(entry), at=calendar(at), why=shown(why), parts=tuple(_parts(data)))
            for place, entry, at, why, data in rows
        ]


def _parts(data: object) -> Iterator[tuple[str, bytes]]:
    stored = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    try:
        columns = msgspec.msgpack.decode(stored, type=dict[str, object])
    except WRONG:  # the bytes of a record alone
        yield "", stored
        return
    for name, value in columns.items():
        yield name, value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
