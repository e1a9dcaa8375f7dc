"""What an admin may do about the settings of this machine: change values of its config.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import ConsoleError
from services.domain.fleet.role import ADMIN
from services.domain.text.said import said
from services.settings.config_file import ConfigFile, Seen


class SettingCommands:
    """Audited. What is written takes effect when programs of this machine start next."""

    def __init__(self, file: ConfigFile, audit: Audit, operator: Operator) -> None:
        self._file, self._audit, self._operator = file, audit, operator

    def look(self) -> Seen:
        """Every setting with its value and where that comes from; secrets are dots.

        Raises:
            UsageError: the file cannot be read.
        """
        return self._file.look()

    def check(self, changes: Mapping[str, Any]) -> None:
        """Refuse what the next start would refuse; nothing is written.

        Raises:
            UsageError: with the setting as its field.
        """
        self._file.check(changes)

    def change(self, changes: Mapping[str, Any], mark: str) -> None:
        """Write new values by name, None for the default. ``mark``: of the file that was seen (``Seen.mark``).

        Raises:
            UsageError: a value cannot be, or the file is another one meanwhile.
            ConsoleError: it cannot be written.
        """
        self._audit.need(self._operator, ADMIN, "settings.change", sorted(changes))
        self._file.check(changes)
        with self._audit.act("settings.change", sorted(changes), {"changes": self._file.told(changes)}):
            try:
                self._file.write(changes, mark)
            except OSError as exc:
                why = said("settings.unwritable", file=str(self._file.path), why=exc.strerror or str(exc))
                raise ConsoleError(why) from exc
