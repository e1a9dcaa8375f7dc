"""Executor ``rpa``: runs a flow as a command line, without a shell, and ends its whole process tree."""

from __future__ import annotations

import errno
import fnmatch
import logging
import re
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

import msgspec

from services.domain.task import classify, ids, own_words
from services.domain.task.record import Task
from services.executors import own_folder, supervise, tree_guard
from services.executors.base import Fitness, Job, JobContext, Outcome, broken_off
from services.executors.handover import Handover
from services.executors.process_tree import describe_exit
from services.executors.stdout import RESULT_LIMIT, LineSplitter, Output, OutputLimits, Pipe, pump
from services.settings.values import PLACES

#: what a file looks like: changed, it is worth another try
_Look = tuple[str, int, int, int]


class Program:
    """First word of a command, as the flow's own PATH finds it."""

    def __init__(self, command: Sequence[str], path: str | None, cwd: str | None) -> None:
        self.command = tuple(command) if cwd else (*command[:1], *map(_whole, command[1:]))
        self._path, self._cwd = path, cwd
        self._failed: tuple[_Look, str] | None = None

    def file(self) -> str:
        """Where it is, or its name where it is nowhere."""
        return self._find() or self.command[0]

    def missing(self) -> str:
        """What is not there: the program or its folder; "" when it can be started as far as one can see."""
        if not self.command or not self.command[0]:
            return "executors.rpa.command"
        if self._cwd and not Path(self._cwd).is_dir():
            return self._cwd
        found = self._find()
        if not found or is_batch_file(found):
            return self.command[0]
        if self._failed is not None:
            look, what = self._failed
            if look == self._look(found):
                return what
            self._failed = None
        return ""

    def has_failed(self) -> None:
        """It could not be started: not to be tried again until its file has changed."""
        self._failed = (self._look(self.file()), self.command[0] if self.command else "")

    def _find(self) -> str:
        name = self.command[0]
        if PurePath(name).name != name:
            name = str(Path(self._cwd or ".").absolute() / name)  # the child looks for it when it is in its folder
        return shutil.which(name, path=self._path) or ""

    def _look(self, found: str) -> _Look:
        try:
            state = Path(found).stat()
        except OSError:
            return found, 0, 0, 0
        return found, state.st_mtime_ns, state.st_size, state.st_mode


def _whole(word: str) -> str:
    """The full path of a word that looks like a file and names one here; any other as it is (``run`` is a verb)."""
    path = Path(word)
    try:
        looks = bool(path.suffix) or path.name != word
        return str(path.absolute()) if word and looks and path.is_file() else word
    except (OSError, ValueError):
        return word


def is_batch_file(name: str) -> bool:
    """Whether Windows would run it in a shell."""
    return sys.platform == "win32" and PurePath(name).suffix.lower() in (".bat", ".cmd")


log = logging.getLogger(__name__)
#: names of variables that a flow may need; everything else, such as broker passwords, stays here
ALLOWED_ENVIRONMENT = re.compile(
    r"PATH|HOME|USER|LOGNAME|USERNAME|LANG|LANGUAGE|LC_\w+|TZ|TMP|TEMP|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+"
    r"|DBUS_SESSION_BUS_ADDRESS|(?:HTTPS?|NO|ALL)_PROXY|SSL_CERT_(?:FILE|DIR)|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT"
    r"|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?|PROGRAMW6432|COMMONPROGRAMFILES|ALLUSERSPROFILE|PUBLIC"
    r"|USERPROFILE|HOMEDRIVE|HOMEPATH|USERDOMAIN|COMPUTERNAME|NUMBER_OF_PROCESSORS|PROCESSOR_\w+|OS",
    re.IGNORECASE,
)
#: Python flows print line by line and in UTF-8
_DEFAULTS = {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}
#: folders of attempts, and the variables that name an attempt's own to its flow
PREFIX = "fleetdeck-attempt-"
_OF_ATTEMPT = ("FLEETDECK_FILES", "TMPDIR", "TMP", "TEMP")
_PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_CLOSE_S = 15.0
_TOO_LONG = {errno.E2BIG, getattr(errno, "ENAMETOOLONG", -1)}
_ABSENT = {errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EPERM, errno.EISDIR}


class _Readers(msgspec.Struct):
    """The two threads of one child and when both pipes have ended."""

    ended: threading.Event = msgspec.field(default_factory=threading.Event)
    _left: int = 2
    _lock: threading.Lock = msgspec.field(default_factory=threading.Lock)

    def one_ended(self) -> None:
        with self._lock:
            self._left -= 1
            if not self._left:
                self.ended.set()


class RpaExecutor:
    """One instance serves all slots; every attempt is one child process."""

    name = "rpa"

    def __init__(
        self,
        command: Sequence[str],
        *,
        commands: Mapping[str, Sequence[str]] | None = None,
        environment: Mapping[str, str] | None = None,
        base_environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
        kill_grace_s: float = 50.0,
        cancel_grace_s: float = 10.0,
        encoding: str = "utf-8",
        pass_environment: Sequence[str] = (),
        exit_codes: Mapping[int, str] | None = None,
        limits: OutputLimits | None = None,
    ) -> None:
        """Args:
        commands: of task types that have one of their own.
        environment: set for the flows.
        cwd: where flows start, None: in the folder of the attempt, which only its files may come from. There a word of
            the command that names a file here is passed on whole, for it would not be found there.
        base_environment: of this process; only allow-listed names of it reach a flow, and those that
            ``pass_environment`` fits.
        exit_codes: kind of failure by exit code; others are classified by their error text.
        kill_grace_s, cancel_grace_s: from asking to killing, after the time-out and after a cancellation.
        """
        self._cwd, self._encoding = cwd, encoding
        self._kinds = dict(exit_codes or {})
        passed = {
            name: value
            for name, value in (base_environment or {}).items()
            if ALLOWED_ENVIRONMENT.fullmatch(name) or _passes(name, pass_environment)
        }
        self._environment = {**_DEFAULTS, **passed, **(environment or {})}
        path = self._environment.get("PATH")
        self._program = Program(command, path, cwd)
        self._own = {name: Program(own, path, cwd) for name, own in (commands or {}).items()}
        self._kill_grace_s, self._cancel_grace_s = kill_grace_s, cancel_grace_s
        self._limits = limits or OutputLimits()
        self._closing = threading.Event()
        self._idle = threading.Condition()
        self._running = 0
        own_folder.clean_up(PREFIX)

    def fitness(self) -> Fitness:
        """Which of its programs are there."""
        lacks = {name: what for name, own in (("", self._program), *self._own.items()) if (what := own.missing())}
        return Fitness(types=frozenset(name for name in self._own if name not in lacks), lacks=lacks)

    def run(self, job: Job, context: JobContext, debug_port: int | None = None) -> Outcome:
        """Run the flow to its end, its time-out or its cancellation; ``debug_port``: of a lent browser."""
        if self._closing.is_set() or context.cancelled.is_set():
            return broken_off("own.not_begun")
        with self._idle:
            self._running += 1
        try:
            return self._run(job, context, debug_port)
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def _run(self, job: Job, context: JobContext, debug_port: int | None) -> Outcome:
        program = self._own.get(job.task.task_type, self._program)
        argv, problem = self._command_line(job, program, debug_port)
        if problem is not None:
            return problem
        try:
            folder = own_folder.make(PREFIX)
        except OSError as exc:
            return Outcome(ok=False, error=own_words.write("own.no_folder", why=str(exc)), error_kind=classify.CRASHED)
        try:
            return self._run_in(folder, argv, program, job, context)
        finally:
            own_folder.remove(folder)

    def _run_in(self, folder: Path, argv: Sequence[str], program: Program, job: Job, context: JobContext) -> Outcome:
        environment = {**self._environment, **dict.fromkeys(_OF_ATTEMPT, str(folder))}
        try:
            tree = tree_guard.begin(argv, environment=environment, cwd=self._cwd or str(folder))
        except (OSError, ValueError) as exc:
            return self._not_started(exc, argv, program)
        files = Handover(context.artifacts, folder)
        output = Output(context.log, context.progress, self._limits, self._encoding, files.printed)
        watch = supervise.Watch(
            tree=tree,
            limits=supervise.StopTimes(
                timeout_s=job.timeout_s, kill_grace_s=self._kill_grace_s, cancel_grace_s=self._cancel_grace_s
            ),
            context=context,
            closing=self._closing,
            ask=tree.ask_to_end,
        )
        code = self._attend(watch, output)
        files.finish()
        return _outcome(watch, output, code, self._kinds.get(code, ""))

    def close(self) -> None:
        """End what is still running, which returns as cancelled, and wait for it."""
        self._closing.set()
        with self._idle:
            self._idle.wait_for(lambda: not self._running, _CLOSE_S)

    def _attend(self, watch: supervise.Watch, output: Output) -> int:
        readers, process = _Readers(), watch.tree.process
        for stream, line, room in ((process.stdout, output.out, 2 * RESULT_LIMIT), (process.stderr, output.err, 0)):
            pump(Pipe(stream, LineSplitter(self._limits.line_bytes, room), line, readers.one_ended))
        try:
            supervise.watch_to_end(watch, readers.ended)
        except BaseException:
            watch.tree.kill()
            raise
        finally:
            code = watch.tree.reap()
            output.close()
        return code

    def _command_line(self, job: Job, program: Program, debug_port: int | None) -> tuple[list[str], Outcome | None]:
        if not program.command:
            return [], _no_command(own_words.write("own.no_program"))
        try:
            values = _values(job, debug_port)
        except (msgspec.DecodeError, RecursionError) as exc:
            text = own_words.write("own.not_json", why=str(exc))
            return [], Outcome(ok=False, error=text, error_kind=classify.BAD_PAYLOAD)
        argv = [program.file()]
        for item in program.command[1:]:
            filled = _PLACE.sub(lambda match: values[match[1]], item)
            if filled.startswith("-") and not item.startswith("-"):
                text = own_words.write("own.option", item=item, what=repr(filled[:40]))
                return [], Outcome(ok=False, error=text, error_kind=classify.BAD_PAYLOAD)
            argv.append(filled)
        if is_batch_file(argv[0]):
            return [], _no_command(own_words.write("own.batch_file", program=argv[0]))
        return argv, None

    def _not_started(self, exc: OSError | ValueError, argv: Sequence[str], program: Program) -> Outcome:
        number = exc.errno if isinstance(exc, OSError) else None
        if number in _TOO_LONG or getattr(exc, "winerror", None) == 206:
            size = max(len(item) for item in argv)
            text = own_words.write("own.too_long", size=size)
            return Outcome(ok=False, error=text, error_kind=classify.BAD_PAYLOAD)
        if isinstance(exc, ValueError) or number in _ABSENT:
            program.has_failed()
            told = {"program": program.command[0], "why": getattr(exc, "strerror", None) or str(exc)}
            if self._cwd:
                return _no_command(own_words.write("own.cannot_start_in", folder=str(self._cwd), **told))
            return _no_command(own_words.write("own.cannot_start", **told))
        log.warning("a child process could not be started: %s", exc)
        return Outcome(ok=False, error=own_words.write("own.no_process", why=str(exc)), error_kind=classify.CRASHED)


def _passes(name: str, masks: Sequence[str]) -> bool:
    """Whether somebody named it; what this program itself is set up with, such as broker passwords, never passes."""
    return not name.upper().startswith("FLEETDECK_") and any(fnmatch.fnmatchcase(name, mask) for mask in masks)


def param(task: Task, debug_port: int | None = None) -> str:
    """The JSON argument of a flow. Nothing in the payload can replace the shop that the task is for."""
    payload = msgspec.json.decode(task.payload)
    own = {
        "shop_id": task.shop_id,
        "profile_id": ids.profile_id(task.platform, task.shop_id),
        "debug_port": debug_port,
        "task_id": task.task_id,
    }
    more = {name: value for name, value in payload.items() if name not in own} if isinstance(payload, dict) else {}
    return msgspec.json.encode({**own, **more}).decode()


def _values(job: Job, debug_port: int | None) -> dict[str, str]:
    task = job.task
    return {
        "platform": task.platform,
        "task_type": task.task_type,
        "shop_id": task.shop_id,
        "task_id": task.task_id,
        "profile_id": ids.profile_id(task.platform, task.shop_id),
        "debug_port": "" if debug_port is None else str(debug_port),
        "param": param(task, debug_port),
        "timeout": str(max(1, round(job.timeout_s))),
    }


def _no_command(text: str) -> Outcome:
    return Outcome(ok=False, error=text, error_kind=classify.NO_COMMAND, unable=True)


def _outcome(watch: supervise.Watch, output: Output, code: int, kind: str) -> Outcome:
    """``kind``: what the exit code alone says, "" where that is nothing."""
    # A flow that still brought its result home after it was asked to end has done its work.
    if code == 0 and (not watch.reason or output.result):
        return Outcome(ok=True, result=output.result)
    said = output.error_text()
    if watch.reason:
        return supervise.stopped(watch, said)
    if said:
        return Outcome(ok=False, error=said, error_kind=kind or classify.classify(said, code))
    hint = f"; its last line was: {output.last_line[:500]}" if output.last_line else ""
    kind = kind or classify.classify(output.last_line, code)
    return Outcome(ok=False, error=describe_exit(code) + hint, error_kind=kind)
