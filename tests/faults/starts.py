"""Opens the window again and again on a crowded machine and tells how each start ended; ``make starts COUNT=500``."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.screen import Screen, eventually

ROOT = Path(__file__).resolve().parents[2]
#: ways to open the window: first run, own engine, own engine at work on the sample, a picture, a demo
KINDS = ("first", "local", "sample", "picture", "demo")
#: a window is left open for so long: the pages are loaded and made ahead within the first seconds of an idle machine
OPEN_S = (3.0, 14.0)
END_S, ASK_S = 90.0, 5.0
BURN = "import os\nwhile os.getppid() != 1: sum(range(100000))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start and how it ended."""

    number: int
    kind: str
    on_screen: bool
    code: int
    seconds: float
    errors: str

    @property
    def clean(self) -> bool:
        """Whether the program ended as it should; asked to end before it had begun, the signal ends it."""
        code_ok = self.code == 0 or (self.code == -signal.SIGTERM and not self.on_screen)
        return code_ok and "Traceback" not in self.errors and "Fatal Python error" not in self.errors


def start(number: int, kind: str, shown: Screen | None, folder: Path, open_s: float) -> Start:
    """Open the window, close it after a while, and tell how that went."""
    home = folder / f"start-{number}"
    home.mkdir()
    words = _prepare(kind, home, open_s)
    around = {name: text for name, text in os.environ.items() if not name.startswith("FLEETDECK_")}
    around |= {"FLEETDECK_HOME": str(home), "PYTHONFAULTHANDLER": "1", "QT_QPA_PLATFORM": "offscreen"}
    if shown is not None:
        around |= {"DISPLAY": shown.display, "QT_QPA_PLATFORM": "xcb"}
    began = time.monotonic()
    errors = home / "errors.txt"
    with errors.open("wb") as sink:
        command = [sys.executable, str(ROOT / "main.py"), *words]
        child = subprocess.Popen(command, env=around, cwd=home, stdout=subprocess.DEVNULL, stderr=sink)
    try:
        if kind in ("first", "local", "sample"):
            _use(child, shown, open_s)
        code = child.wait(END_S)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGABRT)  # faulthandler tells where it hangs
        code = child.wait()
    seconds = time.monotonic() - began
    text = errors.read_text(encoding="utf-8", errors="replace")
    return Start(number=number, kind=kind, on_screen=shown is not None, code=code, seconds=seconds, errors=text)


def _prepare(kind: str, home: Path, open_s: float) -> list[str]:
    if kind == "demo":
        return ["demo", "--seconds", str(round(open_s)), "--screenshot", str(home / "window.png")]
    if kind == "picture":
        return ["--screenshot", str(home / "window.png")]
    if kind in ("local", "sample"):
        (home / "console.json").write_text('{"chosen": "local"}', encoding="utf-8")
    if kind == "sample":
        from services import assembly
        from services import settings as config

        engine = assembly.open_engine(config.load(home=home))
        engine.store.put_document("fleet", "sample", json.dumps({"loaded": True}))
        engine.close()
    return []


def _use(child: subprocess.Popen[bytes], shown: Screen | None, open_s: float) -> None:
    """Wait for the window where it can be seen, leave it open, close it as a person does."""
    if shown is None:
        _wait(child, open_s + 2.0)
        child.send_signal(signal.SIGTERM)
        return
    eventually(lambda: shown.windows(child.pid) if child.poll() is None else [], END_S)
    _wait(child, open_s)
    ends = time.monotonic() + END_S
    while child.poll() is None and time.monotonic() < ends:
        # one that is just making its window may not hear it; a person would press the cross again
        for window in shown.windows(child.pid):
            shown.ask_to_close(window)
        _wait(child, ASK_S)


def _wait(child: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Keep the processors busy with so many processes."""
    running = [subprocess.Popen([sys.executable, "-S", "-c", BURN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def run(count: int, *, together: int, load: int, kinds: tuple[str, ...], seed: int, folder: Path) -> Iterator[Start]:
    """Start so many windows, so many at a time beside ``load`` busy processes; each is told when it has ended."""
    chance, numbers, lock = random.Random(seed), itertools.count(1), threading.Lock()
    done: list[Start] = []
    with ExitStack() as stack:
        stack.enter_context(burners(load))
        screens = [stack.enter_context(Screen(1366, 768)) for _ in range(together)]

        def lane(place: int) -> None:
            while (number := next(numbers)) <= count:
                with lock:
                    kind, open_s = kinds[number % len(kinds)], chance.uniform(*OPEN_S)
                    where = screens[place] if chance.random() < 0.5 else None
                ended = start(number, kind, where, folder, open_s)
                with lock:
                    done.append(ended)

        lanes = [threading.Thread(target=lane, args=(place,), daemon=True) for place in range(together)]
        for one in lanes:
            one.start()
        told = 0
        while told < len(done) or any(one.is_alive() for one in lanes):
            time.sleep(0.2)
            while told < len(done):
                yield done[told]
                told += 1


def main() -> int:
    """Run the loop with the numbers of the command line; 1 when any start did not end well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--together", type=int, default=3, help="windows at a time")
    parser.add_argument("--load", type=int, default=2, help="busy processes beside them")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="", help="folder that keeps what failed")
    args = parser.parse_args()
    ends: Counter[str] = Counter()
    folder = Path(args.out or tempfile.mkdtemp(prefix="fleetdeck-starts-"))
    folder.mkdir(parents=True, exist_ok=True)
    how = {"together": args.together, "load": args.load, "kinds": tuple(args.kinds.split(",")), "seed": args.seed}
    for one in run(args.count, folder=folder, **how):
        ends["clean" if one.clean else f"exit {one.code}"] += 1
        where = "on a screen" if one.on_screen else "offscreen"
        if not one.clean:
            sys.stdout.write(f"start {one.number} ({one.kind}, {where}) exit {one.code}\n{one.errors[-12000:]}\n")
        elif one.number % 10 == 0:
            sys.stdout.write(f"start {one.number} ({one.kind}, {where}) {one.seconds:.0f} s; {dict(ends)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{args.count} starts: {dict(ends)}; what they left is in {folder}\n")
    return 0 if set(ends) <= {"clean"} else 1


if __name__ == "__main__":
    sys.exit(main())
