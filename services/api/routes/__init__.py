"""A module for each noun; whoever adds one writes a line here."""

from __future__ import annotations

from services.api.routes import (
    alerts,
    audit,
    batches,
    dead_letters,
    events,
    health,
    past,
    promises,
    queues,
    quiet,
    reference,
    roles,
    schedules,
    shops,
    status,
    tasks,
    types,
    views,
    work,
    workers,
    zone,
)

#: modules with a ``router``
NOUNS = (
    status,
    tasks,
    views,
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
    zone,
    audit,
    past,
    roles,
    health,
    events,
    reference,
)
