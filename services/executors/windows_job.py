"""What Windows has in the place of sessions and signals: job objects, named events, and the console of another process.

Only imported on Windows. All of it by ctypes: the standard library knows none of it.
"""

from __future__ import annotations

import ctypes
import sys
import threading

if sys.platform == "win32":
    from ctypes import wintypes

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _KILL_ON_CLOSE, _EXTENDED_LIMITS, _PROCESS_LIST = 0x2000, 9, 3
    _MORE_DATA, _CTRL_BREAK = 234, 1
    #: what a process says that a job ended, as after ``Popen.kill``
    _EXIT_CODE = 1

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("per_process_time", ctypes.c_int64),
            ("per_job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_working_set", ctypes.c_size_t),
            ("most_working_set", ctypes.c_size_t),
            ("processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("basic", _BasicLimits),
            ("io_counters", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    class JobObject:
        """Holds a child and all that it starts; they end with this object's handle, at the latest with this process."""

        def __init__(self, name: str) -> None:
            """``name`` makes that of the event, which nobody else may have.

            Raises:
                OSError: the system has no room for another one.
            """
            self._lock = threading.Lock()
            self.event_name = f"Local\\fleetdeck-{name}"
            self._event = _made(_create_event(None, True, False, self.event_name))
            try:
                self._job = _made(_create_job(None, None))
            except OSError:
                _close(self._event)
                raise
            limits = _ExtendedLimits()
            limits.basic.flags = _KILL_ON_CLOSE
            if not _set_job(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)):
                error = _last_error()
                self.close()
                raise error

        def take(self, process: int) -> None:
            """Put a process in, by its handle. What it has started before stays outside: it should not have run yet.

            Raises:
                OSError: it may not be put in.
            """
            if not _assign(self._job, process):
                raise _last_error()

        def ask(self) -> None:
            """Set the event."""
            with self._lock:
                if self._event:
                    _set_event(self._event)

        def pids(self) -> list[int]:
            """Process ids of all that live in it."""
            room = 64
            with self._lock:
                while self._job:

                    class _Listed(ctypes.Structure):
                        _fields_ = (
                            ("assigned", wintypes.DWORD),
                            ("listed", wintypes.DWORD),
                            ("ids", ctypes.c_size_t * room),
                        )

                    found = _Listed()
                    if _query_job(self._job, _PROCESS_LIST, ctypes.byref(found), ctypes.sizeof(found), None):
                        return list(found.ids[: found.listed])
                    if ctypes.get_last_error() != _MORE_DATA:
                        return []
                    room *= 4
            return []

        def end(self) -> None:
            """End all that is in it, at once."""
            with self._lock:
                if self._job:
                    _end_job(self._job, _EXIT_CODE)

        def close(self) -> None:
            """Give both handles back; what is still in it ends."""
            with self._lock:
                for handle in (self._job, self._event):
                    if handle:
                        _close(handle)
                self._job = self._event = 0

    def has_ended(process: int) -> bool:
        """Whether a process has ended, by its handle; its number stays its own as long as that is open."""
        return bool(_wait(process, 0) == 0)

    def break_console(pid: int) -> bool:
        """Send CTRL_BREAK to a process that leads a group, in the console of its own that no window shows.

        A signal reaches only who shares the sender's console, and a process can have one: this one gives its own up.
        So only a process does it that needs none, and in one thread. False: that other has no console, or is gone.
        """
        _kernel.FreeConsole()
        if not _attach_console(pid):
            return False
        try:
            return bool(_console_event(_CTRL_BREAK, pid))
        finally:
            _kernel.FreeConsole()

    def _function(name: str, result: type, *arguments: type) -> ctypes._NamedFuncPointer:
        function = getattr(_kernel, name)
        function.restype, function.argtypes = result, arguments
        return function  # type: ignore[no-any-return]

    _handle, _bool, _number, _place = wintypes.HANDLE, wintypes.BOOL, wintypes.DWORD, ctypes.c_void_p
    _create_event = _function("CreateEventW", _handle, _place, _bool, _bool, wintypes.LPCWSTR)
    _create_job = _function("CreateJobObjectW", _handle, _place, wintypes.LPCWSTR)
    _set_job = _function("SetInformationJobObject", _bool, _handle, ctypes.c_int, _place, _number)
    _query_job = _function("QueryInformationJobObject", _bool, _handle, ctypes.c_int, _place, _number, _place)
    _assign = _function("AssignProcessToJobObject", _bool, _handle, _handle)
    _end_job = _function("TerminateJobObject", _bool, _handle, wintypes.UINT)
    _set_event = _function("SetEvent", _bool, _handle)
    _wait = _function("WaitForSingleObject", _number, _handle, _number)
    _close = _function("CloseHandle", _bool, _handle)
    _attach_console = _function("AttachConsole", _bool, _number)
    _console_event = _function("GenerateConsoleCtrlEvent", _bool, _number, _number)

    def _made(handle: int | None) -> int:
        if not handle:
            raise _last_error()
        return handle

    def _last_error() -> OSError:
        return ctypes.WinError(ctypes.get_last_error())
