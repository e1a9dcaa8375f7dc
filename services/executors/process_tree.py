"""Child processes with everything they started: own group, no shell, ended as a whole.

On Windows "everything" is a job object: nothing leaves it, and it ends with this process, however that goes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil

from services.domain.task import own_words
from services.executors.offspring import offspring

if sys.platform == "win32":
    from services.executors import windows_job

#: marks a child and all its offspring, also those that left its process group
MARK = "FLEETDECK_RUN"
#: names the process that watches them, so that what outlives it can be told from what is at work
OWNER = "FLEETDECK_STARTED_BY"
#: on Windows names the event that is set when the child should end, for programs that no console signal reaches
END_EVENT = "FLEETDECK_END_EVENT"
_ROUNDS = 5
_END_S, _POLL_S = 2.0, 0.002
_WINDOWS = sys.platform == "win32"
_SUSPENDED = 0x4  #: of the flags of Windows the one that ``subprocess`` has no name for


class ProcessTree:
    """A running child in its own session (POSIX) or job object (Windows); pipes for its output."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | None = None,
        stdin: int = subprocess.DEVNULL,
        pass_fd: int = -1,
        before_reaped: Callable[[int], None] = lambda pid: None,
        break_console: Callable[[int], None] = lambda pid: None,
    ) -> None:
        """Start it.

        Args:
            pass_fd: number of one more descriptor that the child inherits under the same number (handle on Windows).
            before_reaped: told its process id when that is about to become anybody's.
            break_console: on Windows, sends CTRL_BREAK to the process with that id, whose console is not ours.

        Raises:
            OSError: it cannot be started.
        """
        self.mark, self._before_reaped = secrets.token_hex(8), before_reaped
        more: dict[str, str] = {}
        if sys.platform == "win32":
            self._job, self._break_console = windows_job.JobObject(self.mark), break_console
            more[END_EVENT] = self._job.event_name
        try:
            self.process = subprocess.Popen(
                [_encoded(item) for item in argv],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env={**environment, MARK: self.mark, OWNER: owner(), **more},
                **_own_group(pass_fd),
            )
            self._begin_in_job()
        except BaseException:
            if sys.platform == "win32":
                self._job.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self.process.pid

    def exited(self) -> bool:
        """Whether the child itself has ended; it is not reaped, so that its group keeps its number."""
        if self.process.returncode is not None:
            return True
        if sys.platform == "win32":
            return windows_job.has_ended(_handle(self.process))
        if sys.platform != "linux":
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def ask_to_end(self) -> None:
        """SIGTERM for the whole tree; on Windows CTRL_BREAK for its console, and the event for who has none."""
        if sys.platform == "win32":
            self._job.ask()
            self._break_console(self.pid)
            return
        strays = self._outside_group()
        _ignore_gone(os.killpg, self.pid, signal.SIGTERM)
        for member in strays:
            _ignore_gone(member.terminate)

    def kill(self) -> None:
        """End every process of the tree, also those that left the group or started meanwhile."""
        if sys.platform == "win32":
            members = self.members()
            self._job.end()
            _wait_for_end(members)
            return
        for _ in range(_ROUNDS):
            members = self.members()
            self._kill_group()
            for member in members:
                _ignore_gone(member.kill)
            _wait_for_end(members)
            if not self._others():
                return

    def reap(self) -> int:
        """End what the child left behind in its group, collect it and return its exit code."""
        self._kill_group()
        if self.process.returncode is None:
            self._before_reaped(self.pid)
        code = self.process.wait()
        if sys.platform == "win32":
            self._job.close()
        return code

    def members(self) -> list[psutil.Process]:
        """The child and all its living descendants, found by parentage and by the mark in their environment."""
        found: dict[int, psutil.Process] = {}
        if sys.platform == "win32":
            for pid in self._job.pids():
                with contextlib.suppress(psutil.Error):
                    found[pid] = psutil.Process(pid)
            return [member for member in found.values() if _is_alive(member)]
        if self.process.returncode is None:  # once reaped, its number may belong to others
            with contextlib.suppress(psutil.NoSuchProcess):
                root = psutil.Process(self.pid)
                found = {member.pid: member for member in [root, *offspring(root)]}
        for member in psutil.process_iter():
            if member.pid not in found and self._is_marked(member):
                found[member.pid] = member
        return [member for member in found.values() if _is_alive(member)]

    def _begin_in_job(self) -> None:
        """It was started standing still, or what it starts at once would be outside."""
        if sys.platform == "win32":
            try:
                self._job.take(_handle(self.process))
                psutil.Process(self.pid).resume()
            except (OSError, psutil.Error) as exc:
                self.process.kill()
                self.process.wait()
                raise OSError(f"it cannot be put into a job object: {exc}") from exc

    def _others(self) -> list[psutil.Process]:
        return [member for member in self.members() if member.pid != self.pid]

    def _outside_group(self) -> list[psutil.Process]:
        return [member for member in self._others() if _group_of(member.pid) != self.pid]

    def _is_marked(self, member: psutil.Process) -> bool:
        try:
            return member.environ().get(MARK) == self.mark
        except (psutil.Error, OSError):
            return False

    def _kill_group(self) -> None:
        if sys.platform == "win32":
            self._job.end()
            return
        if self.process.returncode is None:
            _ignore_gone(os.killpg, self.pid, signal.SIGKILL)


def end_orphans() -> int:
    """End what workers of this user left running here when they were killed; returns how many processes.

    Their tasks are given to somebody else, and two flows must not work in one shop at a time.
    """
    # with all that they started: the guard of a killed worker may be at the same work, and whoever kills a flow first
    # must not leave its offspring, which nobody could tell from strangers any more
    here = _namespace("self")
    owners = {_owner_of(member) for member in psutil.process_iter() if _namespace(member.pid) == here} - {""}
    return sum(end_owned(by) for by in owners if _is_dead(by))


def _namespace(number: int | str) -> str:
    """Among which processes a number counts on Linux, "" where nobody tells: in a container of this machine an owner
    has another number than here, and would be taken for dead.
    """
    try:
        return str(Path(f"/proc/{number}/ns/pid").readlink())
    except OSError:
        return ""


def _is_dead(by: str) -> bool:
    """Whether this is the mark of a process that is gone; what is no mark says nothing."""
    number, _, started = by.partition(":")
    try:
        return not _lives(int(number), float(started))
    except (ValueError, psutil.Error):
        return False


def owner() -> str:
    """What the children of this process carry: its number and when it started."""
    return f"{os.getpid()}:{_started(os.getpid())}"


def owner_lives(by: str) -> bool:
    """Whether the process with this mark (see ``owner``) is still there; what is no mark is nobody's."""
    number, _, started = by.partition(":")
    try:
        return _lives(int(number), float(started))
    except (ValueError, psutil.Error):
        return False


def end_owned(by: str, begun: Mapping[int, float] = MappingProxyType({})) -> int:
    """End what this owner has started, with all offspring and whole sessions: a program may have wiped its environment.

    ``begun``: children of the owner that nobody has reaped, by process id, with the instants of their start: each began
    a session of its own, and is known by that where even the child itself carries no mark any more.

    Returns how many processes were alive.
    """
    found: dict[int, psutil.Process] = {}
    while fresh := {one.pid: one for one in _belonging(by, begun) if one.pid not in found and _is_alive(one)}:
        for member in fresh.values():  # what stands still starts nothing that would be nobody's once this is gone
            _ignore_gone(member.suspend)
        found |= fresh
    for member in found.values():
        _ignore_gone(member.kill)
    return len(found)


def _belonging(by: str, begun: Mapping[int, float]) -> list[psutil.Process]:
    every = list(psutil.process_iter())
    # A number that belongs to a younger process now is not the child's any more.
    reused = {one.pid for one in every if one.pid in begun and started_at(one.pid) != begun[one.pid]}
    ours = begun.keys() - reused
    marked = [one for one in every if one.pid in ours or _owner_of(one) == by]
    found = {child.pid: child for member in marked for child in (member, *offspring(member))}
    sessions = {_session_of(member.pid) for member in marked} - {-1}  # each child began one of its own
    if not _WINDOWS:
        sessions |= ours
    if sessions:
        found |= {one.pid: one for one in psutil.process_iter() if _session_of(one.pid) in sessions}
    found.pop(os.getpid(), None)
    return list(found.values())


def started_at(pid: int) -> float:
    """When a process began, as a number that never changes; 0 when it is gone."""
    try:
        return _started(pid)
    except (psutil.Error, OSError):
        return 0.0


def _owner_of(member: psutil.Process) -> str:
    try:
        return member.environ().get(OWNER, "")
    except (psutil.Error, OSError):
        return ""


def _session_of(pid: int) -> int:
    """Number of the process's session, which is that of the child that it began with; -1 where there are none."""
    if sys.platform == "win32":
        return -1
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _lives(number: int, started: float) -> bool:
    try:
        return _started(number) == started and psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, OSError):
        return False


def _started(number: int) -> float:
    """When a process started, as a number that never changes: on Linux in ticks since the machine started.

    The wall clock's instant, which psutil gives there, moves with every correction of the clock; a living worker would
    look like another one, and its flows would be killed as orphans.
    """
    if sys.platform != "linux":
        return psutil.Process(number).create_time()
    stat = Path(f"/proc/{number}/stat").read_bytes()
    return float(stat.rpartition(b")")[2].split()[19])


def _wait_for_end(members: Sequence[psutil.Process]) -> None:
    """Until all are gone or zombies: nobody may ever collect those whose parent died first."""
    until = time.monotonic() + _END_S
    while any(_is_alive(member) for member in members) and time.monotonic() < until:
        time.sleep(_POLL_S)


def describe_exit(code: int, *, of_handler: bool = False) -> str:
    """A sentence about an exit code, for a child that said nothing; ``of_handler``: it ran a handler, no command."""
    what = "own.handler_" if of_handler else "own."
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        return own_words.write(f"{what}signal", number=-code, name=name)
    return own_words.write(f"{what}exit", code=code if code < 0x8000_0000 else hex(code))


def _own_group(pass_fd: int) -> dict[str, Any]:
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | _SUSPENDED
        if pass_fd < 0:
            return {"creationflags": flags}
        os.set_handle_inheritable(pass_fd, True)
        info = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [pass_fd]})
        return {"creationflags": flags, "startupinfo": info}
    return {"start_new_session": True, "pass_fds": (pass_fd,) if pass_fd >= 0 else ()}


def _handle(process: subprocess.Popen[bytes]) -> int:
    """The handle that Windows gave for the child; ``subprocess`` has no public name for it."""
    return int(process._handle)  # type: ignore[attr-defined]  # noqa: SLF001


def _encoded(item: str) -> str | bytes:
    """POSIX arguments are UTF-8 bytes whatever the locale of this process."""
    return item if _WINDOWS else item.encode("utf-8", "surrogateescape")


def _group_of(pid: int) -> int:
    if sys.platform == "win32":
        return -1
    try:
        return os.getpgid(pid)
    except OSError:
        return -1


def _is_alive(member: psutil.Process) -> bool:
    try:
        return bool(member.is_running() and member.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _ignore_gone(call: Any, *args: Any) -> None:
    """A process that ended a moment earlier is what was wanted."""
    try:
        call(*args)
    except (OSError, psutil.Error):
        return
