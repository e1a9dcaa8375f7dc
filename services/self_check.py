"""The doctor and the repair of a fleet as a window asks for them: each look opens drivers of its own."""

from __future__ import annotations

from services import diagnosis, repairs
from services import settings as config
from services.domain import audit
from services.domain.upkeep.health import Finding
from services.domain.upkeep.repair import Mend, Told, unheard


class SelfCheck:
    """Blocking, for minutes where there are very many records.

    What the window's own drivers have declared or cached long ago would hide what is missing now.
    """

    def __init__(self, settings: config.Settings) -> None:
        self._settings = settings

    def examine(self, *, deep: bool = False) -> tuple[Finding, ...]:
        """Every finding. ``deep``: compare all records with what is derived from them, however many there are."""
        return diagnosis.examine(self._settings, deep=deep, needs=False).findings

    def plan(self, *, from_stream: bool = False, told: Told = unheard) -> list[Mend]:
        """What a repair would do; changes nothing. ``told``: at which step it is, of how many.

        Raises:
            NotAllowed: this person may only look.
        """
        with repairs.opened(self._settings, via=audit.WINDOW) as commands:
            return commands.plan(from_stream=from_stream, told=told)

    def repair(self, *, from_stream: bool = False, told: Told = unheard) -> list[Mend]:
        """Mend all that can be mended, as an audited act. ``told``: as of ``plan``.

        Raises:
            NotAllowed: this person is no admin.
        """
        with repairs.opened(self._settings, via=audit.WINDOW) as commands:
            return commands.repair(from_stream=from_stream, told=told)
