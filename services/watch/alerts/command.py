"""Runs a command that the settings of this machine know, for an incident: to start more workers, to open a ticket."""

from __future__ import annotations

import io
import locale
import logging
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import NoReturn

import msgspec

from services import i18n
from services.commands.audit import Audit
from services.domain.alerts.incident import Incident
from services.domain.errors import ConsoleError, TaskError
from services.domain.text import mask
from services.domain.text.message import Message, Param
from services.domain.text.said import Said
from services.messages import english
from services.monitor.alerts import wording
from services.settings.values import AlertSettings

log = logging.getLogger(__name__)
ACTION = "alert.run"
#: what ends within it is told in the incident; what takes longer goes on, and the audit tells its end
AWAITED_S = 5.0
#: names of variables that no command gets: addresses and secrets of the fleet, but for the place of its home
PRIVATE, HOME = "FLEETDECK_", "FLEETDECK_HOME"
#: so much of the end of what it says is looked at
_HEARD = 4096


class HookCommand:
    """``run`` is called by whoever watches; a command that takes long holds up no alert."""

    def __init__(self, settings: AlertSettings, environment: Mapping[str, str]) -> None:
        self._settings, self._machine = settings, socket.gethostname()
        self._environment = {
            name: value for name, value in environment.items() if name == HOME or not name.upper().startswith(PRIVATE)
        }

    def run(self, incident: Incident, name: str, audit: Audit) -> None:
        """Begin it, with the incident as JSON on its stdin; an entry of the audit says how it ended.

        Raises:
            TaskError: there is no such command here, or it failed at once.
            StoreUnavailable: it is not run, for nobody could write that down.
        """
        words = self._settings.commands.get(name)
        if not words:
            _refuse("alert.no_command", machine=self._machine, name=name)
        failed: list[ConsoleError] = []
        thread = threading.Thread(
            target=self._act, args=(incident, name, words, audit, failed), name=f"alert-run-{name}", daemon=True
        )
        thread.start()
        thread.join(AWAITED_S)
        if failed:
            raise failed[0]

    def _act(
        self, incident: Incident, name: str, words: tuple[str, ...], audit: Audit, failed: list[ConsoleError]
    ) -> None:
        try:
            with audit.act(ACTION, [incident.id], {"command": name, "rule": incident.rule.name}):
                self._run(incident, name, words)
        except ConsoleError as exc:
            log.warning("rule %s: %s", incident.rule.name, exc)
            failed.append(exc)

    def _run(self, incident: Incident, name: str, words: tuple[str, ...]) -> None:
        seconds = self._settings.command_seconds
        # what it starts and leaves may write there for days, and a pipe would be waited for until then
        with tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    words,
                    input=document(incident),
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=self._environment,
                    timeout=seconds,
                    check=False,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # of Windows
                )
            except subprocess.TimeoutExpired:
                _refuse("alert.command_late", name=name, seconds=round(seconds))
            except OSError as exc:
                _refuse("alert.command_failed", name=name, code="-", why=exc.strerror or type(exc).__name__)
            if done.returncode:
                errors.seek(max(0, errors.seek(0, io.SEEK_END) - _HEARD))
                said = _decoded(errors.read()).strip().splitlines()
                why = mask.known(mask.masked_text(said[-1] if said else "-"))[:200]
                _refuse("alert.command_failed", name=name, code=done.returncode, why=why)


def _decoded(said: bytes) -> str:
    """In UTF-8, else as programs of this system write: on Windows in its code page."""
    try:
        # the beginning may be cut off within a character
        return said.lstrip(bytes(range(0x80, 0xC0))).decode()
    except UnicodeDecodeError:
        return said.decode(locale.getencoding(), errors="replace")


def document(incident: Incident) -> bytes:
    """What a command reads: the incident as it was raised, in English, instants in UTC ms."""
    with i18n.speaking("en"):
        title = wording.title(incident.words, "UTC")
    return msgspec.json.encode(
        {
            "incident": incident.id,
            "rule": incident.rule.name,
            "severity": incident.rule.severity,
            "title": title,
            "count": incident.count,
            "of": incident.of,
            "names": incident.names,
            "scope": incident.scope,
            "first_at": incident.first_at,
        }
    )


def _refuse(sentence: str, **params: Param) -> NoReturn:
    message = Message(sentence, params)
    text = Said(english(message))
    text.message = message
    raise TaskError(text)
