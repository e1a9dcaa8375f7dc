"""A look at the fleet that the settings name, as the doctor has it: also where the engine itself would not open."""

from __future__ import annotations

import contextlib

import msgspec

from services import assembly
from services import settings as config
from services.clock import SystemClock
from services.domain.errors import ConsoleError, OperatorError
from services.domain.fleet import environment
from services.domain.insight.connection import Reach
from services.domain.text.said import words_of
from services.domain.upkeep import health
from services.domain.upkeep.health import ERROR, WARNING, Finding, finding
from services.monitor.attention.broker import UNSENT
from services.monitor.doctor import FILE_GONE, Doctor
from services.monitor.overview import Attention
from services.profiles import passwords
from services.version import VERSION


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Every finding, and what needs a person as the window lists it."""

    findings: tuple[Finding, ...]
    attention: tuple[Attention, ...] = ()


def examine(settings: config.Settings, *, deep: bool = False, needs: bool = True) -> Diagnosis:
    """Everything there is to say; a driver that cannot be opened is one. ``deep``: compare all records, however many;
    not ``needs``: whoever asks sees what needs a person elsewhere, and it stays empty.

    Raises:
        UsageError: the settings themselves are wrong.
    """
    clock = SystemClock()
    try:
        settings, store, broker, newer = assembly.readable(settings, clock)
    except OperatorError:
        raise
    except ConsoleError as exc:
        error = words_of(exc)
        gone = finding(ERROR, "store", FILE_GONE, error=error) if settings.embedded else health.of_lost_store(error)
        lost = health.of_loss(Reach(store=False, embedded=settings.embedded))
        return Diagnosis(findings=(gone, *lost, *_of_machine(settings)))
    production = environment.is_production(settings.environment)
    try:
        doctor = Doctor(
            store,
            broker,
            clock,
            version=VERSION,
            production=production,
            embedded=settings.embedded,
            foreign=tuple(settings.foreign_queues),
        )
        findings = doctor.look(settings.home_path, settings.delays, mark=settings.store_mark, deep=deep)
        with contextlib.suppress(ConsoleError):  # that it is gone is told already
            newer = newer or store.newer()  # who was asked to open them read-only was not told
        newest = [finding(ERROR, "store", "doctor.newer", error=newer)] if newer else []
        refused: list[Finding] = []
        with contextlib.suppress(ConsoleError):  # that it is gone is told already
            refused = health.of_rights(assembly.missing_rights(settings, broker))
        # it reads every open letter, which takes seconds and their memory where there are very many
        people = list(doctor.attention()) if needs or refused else []
        # why nothing is sent is known then, and no matter of the broker's disk
        for one in [one for one in people if refused and one.code == UNSENT]:
            people.remove(one)
            refused.append(finding(WARNING, "broker", "doctor.unsent", **one.params))
        attention = tuple(people) if needs else ()
        return Diagnosis(findings=(*newest, *refused, *findings, *_of_machine(settings)), attention=attention)
    finally:
        broker.close()
        store.close()


def _of_machine(settings: config.Settings) -> list[Finding]:
    name, plain = passwords.key_store()
    found = [health.of_keys(name, plain=plain)]
    if settings.unverified:
        found.append(finding(ERROR, "tls", "doctor.unverified", servers=" and ".join(settings.unverified)))
    return found
