"""A module for each noun; whoever adds one writes a line here."""

from __future__ import annotations

from services.api.routes import (
    alerts,
    audit,
    batches,
    dead_letters,
    events,
    health,
    promises,
    queues,
    quiet,
    reference,
    schedules,
    shops,
    status,
    tasks,
    types,
    work,
    workers,
)

#: modules with a ``router``
NOUNS = (
    status,
    tasks,
    work,
    dead_letters,
    shops,
    queues,
    workers,
    schedules,
    batches,
    promises,
    alerts,
    types,
    quiet,
    audit,
    health,
    events,
    reference,
)
