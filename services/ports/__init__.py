"""What the engine needs from the outside, as protocols; drivers implement them and nothing else names a driver."""

from __future__ import annotations

from services.domain.audit import AuditEntry
from services.ports.artifacts import ArtifactStore
from services.ports.broker import Broker, Consumer
from services.ports.clock import Clock
from services.ports.journals import Letter, LogLine
from services.ports.store import Store
from services.ports.timetable import ScheduleEntry

__all__ = ["ArtifactStore", "AuditEntry", "Broker", "Clock", "Consumer", "Letter", "LogLine", "ScheduleEntry", "Store"]
