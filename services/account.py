"""The account of the operating system that this process runs under; the environment has no say in it."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes

    #: characters of a name, the ending 0 included
    _UNLEN = 257

    def _of_system() -> str:
        buffer = ctypes.create_unicode_buffer(_UNLEN)
        size = ctypes.c_ulong(_UNLEN)
        return buffer.value if ctypes.windll.advapi32.GetUserNameW(buffer, ctypes.byref(size)) else ""

else:
    import os
    import pwd

    def _of_system() -> str:
        uid = os.getuid()
        try:
            return pwd.getpwuid(uid).pw_name or f"uid-{uid}"
        except (KeyError, OSError):
            return f"uid-{uid}"


def name() -> str:
    """The name of the account: of the real user id, or of whom Windows knows as logged on.

    An id without a name in the system's list of users is ``uid-ID``.
    """
    return "".join(char for char in _of_system().strip() if char.isprintable()) or "unknown"
