"""The shell: everything is put together here, nothing is decided here."""

from __future__ import annotations

import builtins

import PySide6.QtCore  # noqa: F401  (whatever is imported after it would be looked through by it)

# Qt for Python reads the source of every module that is imported after it, to learn whether the module may use
# ``from __feature__ import …``, and all that text stays in memory: 20 MB of this program, which has no such import.
# PYSIDE-2029; it leaves the import as it was before under this name.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
