"""Who works where, under which switches and rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import Heard, WorkerInfo
from services.domain.gates.home import Home


class Fleet(Protocol):
    """Shops, pauses, documents, workers and who leads."""

    def put_shops(self, shops: Iterable[Shop]) -> None:
        """Insert or replace by (platform, shop_id)."""

    def shops(self) -> list[Shop]: ...

    def set_pause(self, pause: Pause) -> None:
        """Close a switch (again: replace it); ``at`` 0 is filled."""

    def clear_pause(self, scope: str) -> bool:
        """Open a switch; tell whether it was closed."""

    def swap_pause(self, scope: str, by: str, pause: Pause | None) -> bool:
        """Close a switch (None: open it) that this one has closed ("": nobody); tell whether it was so. Nobody comes
        between the look and the change.
        """

    def pauses(self) -> list[Pause]: ...
    def switches(self) -> list[Pause]:
        """The closed switches of all gates now: the pauses, and what documents close (``gates.listed``); in the order
        of the gates.
        """

    def put_document(self, kind: str, name: str, body: str) -> None:
        """Keep a JSON document: task types (``type``), settings of the fleet (``fleet``), roles (``role``), dedicated
        queues (``queue``).
        """

    def add_document(self, kind: str, name: str, body: str) -> bool:
        """Keep a JSON document unless there is one of this name; tell whether it was kept."""

    def swap_document(self, kind: str, name: str, before: str, body: str) -> bool:
        """Keep a JSON document in the place of the one that was read; tell whether that was still there."""

    def remove_document(self, kind: str, name: str) -> bool:
        """Strike a document off; tell whether there was one."""

    def document(self, kind: str, name: str) -> str | None:
        """One of them, where the others may be many or large; None where there is none."""

    def documents(self, kind: str) -> Mapping[str, str]: ...

    def homes(self, shops: Iterable[str] | None = None) -> dict[str, Home]:
        """Where shops (``platform:shop_id``; None: all) are at home, those that are, by shop."""

    def put_home(self, shop: str, node: str) -> None:
        """Let a shop be at home on a node from now on; what waits for another one is let go by ``Rehome``."""

    def heartbeat(self, info: WorkerInfo) -> Heard:
        """Record a worker; fetch the orders left for it and the kinds of tasks that wait for a capable worker, or
        for its node.
        """

    def workers(self) -> list[WorkerInfo]: ...
    def tell_worker(self, worker: str, order: str) -> None: ...
    def forget_worker(self, worker: str) -> None:
        """A worker says goodbye: nobody will hear the orders that were left for it."""

    def strike_off(self, worker: str, seen_at: int) -> bool:
        """Take a worker off the list that was last heard of at ``seen_at`` (UTC ms); False when it was heard of since.
        Orders left for it stay: if it was only cut off, it hears them when it is back.
        """

    def lead(self, role: str, holder: str, ttl_ms: int) -> bool:
        """Take or prolong the leader lease; tell whether ``holder`` leads."""

    def leader(self, role: str) -> str:
        """Who leads now, "" for nobody."""

    def resign(self, role: str, holder: str) -> None: ...
