"""A look at the fleet that the settings name, as the doctor has it: also where the engine itself would not open."""

from __future__ import annotations

from services import assembly
from services import settings as config
from services.clock import SystemClock
from services.domain import environment
from services.domain.errors import ConsoleError, OperatorError
from services.domain.health import ERROR, Finding, finding
from services.domain.said import words_of
from services.monitor.doctor import Doctor
from services.version import VERSION


def examine(settings: config.Settings, *, deep: bool = False) -> list[Finding]:
    """Every finding; a driver that cannot be opened is one. ``deep``: compare all records, however many.

    Raises:
        UsageError: the settings themselves are wrong.
    """
    clock = SystemClock()
    try:
        store, broker = assembly.drivers(settings, clock)
    except OperatorError:
        raise
    except ConsoleError as exc:
        return [finding(ERROR, "store", "doctor.store_gone", error=words_of(exc))]
    production = environment.is_production(settings.environment)
    try:
        doctor = Doctor(store, broker, clock, version=VERSION, production=production)
        return doctor.look(settings.home_path, settings.delays, mark=settings.store_mark, deep=deep)
    finally:
        broker.close()
        store.close()
