"""Runs a command under a seccomp profile of containers, as their runtime would: ``python -m tests.support.seccomp
PROFILE COMMAND…``. Needs libseccomp, which every Debian has.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
MASKED_EQ = 7
NO_NEW_PRIVS = 38


class _Compared(ctypes.Structure):
    """``struct scmp_arg_cmp``."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@functools.cache  # it asks ldconfig, which a process that is already confined need not
def library() -> str:
    """Name of libseccomp, "" where it is not."""
    return ctypes.util.find_library("seccomp") or ""


def confine(profile: Mapping[str, Any]) -> None:
    """Put this process under a profile, for good; calls that this machine does not know are left out as runtimes do.

    Raises:
        OSError: the kernel does not take it.
    """
    known = {"SCMP_ACT_ALLOW": ALLOW, "SCMP_ACT_ERRNO": ERRNO}
    lib = ctypes.CDLL(library(), use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_rule_add_array.argtypes = (
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Compared),
    )  # fmt: skip
    lib.seccomp_load.argtypes = (ctypes.c_void_p,)
    made = lib.seccomp_init(known[profile["defaultAction"]])
    for rule in profile["syscalls"]:
        action = known[rule["action"]] | rule.get("errnoRet", 0)
        compared = [
            _Compared(one["index"], {"SCMP_CMP_MASKED_EQ": MASKED_EQ}[one["op"]], one["value"], one["valueTwo"])
            for one in rule.get("args", [])
        ]
        for name in rule["names"]:
            number = lib.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:
                array = (_Compared * len(compared))(*compared)
                if failed := lib.seccomp_rule_add_array(made, action, number, len(compared), array):
                    raise OSError(-failed, f"{name}: {os.strerror(-failed)}")
    if ctypes.CDLL(None).prctl(NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError("no_new_privs cannot be set")
    if failed := lib.seccomp_load(made):
        raise OSError(-failed, os.strerror(-failed))


if __name__ == "__main__":
    confine(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    os.execvp(sys.argv[2], sys.argv[2:])
