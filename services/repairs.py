"""The repair of the fleet that the settings name: over drivers in which nothing was declared before it looked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from services import assembly
from services import settings as config
from services.assembly import Engine
from services.commands import operator
from services.commands.repair import RepairCommands
from services.domain.fleet import role
from services.engine import people
from services.engine.lead.reconcile import Reconciler
from services.engine.lead.second_copy import SecondCopy
from services.engine.lead.shop_queues import ShopQueues
from services.engine.repair import Repair


@contextmanager
def opened(settings: config.Settings, *, via: str = "") -> Iterator[RepairCommands]:
    """What an operator may mend, in the name of this process's user. ``via``: as of ``Engine``.

    Raises:
        ConsoleError: a driver cannot be opened.
    """
    engine = replace(assembly.bare_engine(settings), via=via)
    try:
        yield commands(engine)
    finally:
        engine.close()


def commands(engine: Engine, *, name: str = "") -> RepairCommands:
    """The same over drivers that are open, in the name of this process's user or of somebody else."""
    store, broker, steps, registry = engine.store, engine.broker, engine.steps, engine.registry
    who = operator.current(store, read_only=engine.closed, who=name)
    if not who.read_only and people.may_repair(store, who.who):
        who = dataclasses.replace(who, role=role.ADMIN, known=False)  # or nobody could
    reconciler = Reconciler(
        store,
        broker,
        steps,
        registry,
        engine.clock,
        engine.policy,
        foreign_consumers=engine.settings.foreign_consumers,
    )
    queues = ShopQueues(store, broker, steps, registry, engine.clock)
    repair = Repair(store, broker, steps, reconciler, queues, engine.settings.delays)
    copy = SecondCopy(store, broker, steps, registry)
    return RepairCommands(store, repair, copy, assembly.audit_of(engine, who.who), who)
