"""How a worker describes itself in its heartbeat: what stays the same, and what its machine says now."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping

import psutil

from services.domain.fleet.remote import OrderEnd
from services.domain.fleet.worker import BrowserState, LinkState, SlotState, WorkerInfo
from services.domain.gates.ability import Ability
from services.domain.gates.lane_share import Share
from services.domain.insight import publisher
from services.domain.task import ledger
from services.domain.task.order import BrokerHealth
from services.version import VERSION
from services.workers.parts import WorkerOptions


class Heartbeat:
    """Of one worker; ``began``: UTC ms."""

    def __init__(self, name: str, options: WorkerOptions, began: int) -> None:
        self._name, self._options, self._began = name, options, began
        self._me = psutil.Process()

    def draw(
        self,
        *,
        state: str,
        slots: tuple[SlotState, ...],
        shares: Mapping[str, Share],
        ability: Ability,
        prefetched: int,
        ahead: Mapping[str, int],
        done: int,
        failed: int,
        auto: str = "",
        browsers: int = 0,
        pool: tuple[BrowserState, ...] = (),
        versions: Mapping[str, str] | None = None,
        answers: tuple[OrderEnd, ...] = (),
        broker: BrokerHealth | None = None,
    ) -> WorkerInfo:
        """The heartbeat."""
        with self._me.oneshot():
            cpu, memory = self._me.cpu_percent(None), self._me.memory_info().rss / 1e6
        return WorkerInfo(
            worker=self._name,
            host=socket.gethostname(),
            pid=os.getpid(),
            pid_started=self._me.create_time(),
            version=VERSION,
            ledger=ledger.FORM,
            system=f"{platform.system()} {platform.release()}",
            kind=self._options.kind,
            node=self._options.node,
            started_at=self._began,
            slots=slots,
            lanes=self._options.lanes,
            shares={lane: (share.least, share.most) for lane, share in shares.items()},
            state=state,
            prefetched=prefetched,
            ahead=dict(ahead),
            done=done,
            failed=failed,
            cpu=cpu,
            memory_mb=memory,
            executors=tuple(ability.executors),
            handlers=tuple(ability.handlers),
            commands=tuple(ability.commands),
            lends=tuple(ability.lends),
            lacks=dict(ability.lacks),
            declines=tuple(ability.declines),
            proxies=dict(self._options.proxies),
            auto=auto,
            browsers=browsers,
            pool=pool,
            versions={"python": platform.python_version(), **(versions or {})},
            answers=answers,
            cpu_machine=psutil.cpu_percent(None),
            memory_machine=psutil.virtual_memory().percent,
            link=publisher.of_health(broker) if broker is not None else LinkState(),
        )
