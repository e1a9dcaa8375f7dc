"""A module for each noun; whoever adds one writes a line here."""

from __future__ import annotations

from services.api.routes import (
    audit,
    batches,
    dead_letters,
    events,
    health,
    queues,
    quiet,
    schedules,
    shops,
    tasks,
    types,
    work,
    workers,
)

#: modules with a ``router``
NOUNS = (tasks, work, dead_letters, shops, queues, workers, schedules, batches, types, quiet, audit, health, events)
