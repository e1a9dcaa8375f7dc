"""The image without Docker: does what the Dockerfile says, step by step, in a bare root of Debian's, then runs a worker
in it as a container would (its account, no capability, the seccomp profile) and lets it open a page.

    python -m tests.image.rehearse [--root FOLDER]     as root; needs debootstrap, downloads some 500 MB

What is not Docker's here: Debian's own Python in place of the image's, the network of this machine, no layers.
"""

from __future__ import annotations

import argparse
import ctypes
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import bare_root, seccomp

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "resources" / "deploy"
PROFILE = DEPLOY / "kubernetes" / "nodes" / "chromium.json"
PATIENCE_S = 120.0
CAPBSET_DROP, LAST_CAP = 24, 40
NEWNS, NEWUSER, MS_MOVE = 0x20000, 0x10000000, 0x2000


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Word and rest of each instruction of a Dockerfile, in order."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


@dataclass
class Image:
    """What the steps have made so far."""

    root: Path
    folder: str = "/"
    user: str = "root"
    environment: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def build(self, dockerfile: str) -> None:
        """Every step of it; a word that nobody knows here ends it."""
        for word, rest in instructions(dockerfile):
            begun = time.monotonic()
            print(f"--- {word} {rest}", flush=True)
            step: Callable[[str], None] = getattr(self, f"_{word.lower()}")
            step(rest)
            print(f"    {time.monotonic() - begun:.1f} s", flush=True)

    def _from(self, rest: str) -> None:
        found = re.fullmatch(r"python:(3\.\d+)-slim-(\w+)", rest)
        assert found, f"only Debian's roots with Python are known here, not {rest}"
        version, suite = found.groups()
        bare_root.open_root(self.root, suite, "python3", "python3-pip", "ca-certificates")
        for name in ("python", "pip"):
            link = self.root / "usr/local/bin" / name
            link.unlink(missing_ok=True)
            link.symlink_to(f"/usr/bin/{name}3")
        for mark in (self.root / "usr/lib").glob("python3*/EXTERNALLY-MANAGED"):
            mark.unlink()
        for line in (self.root / "etc/passwd").read_text(encoding="utf-8").splitlines():
            name, _, uid, *_ = line.split(":")
            if int(uid) >= 1000 and name != "nobody":  # a root that was kept
                self.run(["userdel", "--remove", name], stderr=subprocess.DEVNULL)
        told = self.run(["python", "--version"], stdout=subprocess.PIPE).stdout
        assert f"Python {version}." in told, f"{suite} has {told}"

    def _run(self, rest: str) -> None:
        done = self.run(["/bin/sh", "-c", rest])
        assert done.returncode == 0, f"RUN ended with {done.returncode}"

    def _workdir(self, rest: str) -> None:
        self.folder = rest
        self.inside(rest).mkdir(parents=True, exist_ok=True)

    def _copy(self, rest: str) -> None:
        *sources, target = shlex.split(rest)
        place = self.inside(str(Path(self.folder) / target))
        ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
        for source in sources:
            if (ROOT / source).is_dir():
                skipped = shutil.ignore_patterns(*(line.removeprefix("**/") for line in ignored))
                shutil.copytree(ROOT / source, place, ignore=skipped, dirs_exist_ok=True)
            else:
                shutil.copy(ROOT / source, place / source if target.endswith("/") else place)

    def _user(self, rest: str) -> None:
        self.user = rest

    def _env(self, rest: str) -> None:
        self.environment |= dict(one.split("=", 1) for one in shlex.split(rest))

    def _volume(self, rest: str) -> None:
        assert self.inside(rest).is_dir(), f"{rest} is not there"

    def _expose(self, rest: str) -> None:
        assert rest.isdigit()

    def _healthcheck(self, rest: str) -> None:
        self.health = json.loads(rest[rest.index("CMD ") + 4 :])

    def _entrypoint(self, rest: str) -> None:
        self.entrypoint = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.command = json.loads(rest)

    def inside(self, path: str) -> Path:
        """Where a path of the image is on this machine."""
        return self.root / path.lstrip("/")

    def run(self, words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """A command in the root, as the root's own user while it is built."""
        command = bare_root.within(self.root, self.folder, words)
        return subprocess.run(command, env=self.variables(), text=True, check=False, **options)

    def variables(self) -> dict[str, str]:
        """What a process of the image is given."""
        return bare_root.variables() | self.environment


@dataclass
class Container:
    """A process of the image as ``compose.yaml`` and the manifests start it."""

    image: Image
    profile: Mapping[str, Any]
    more: Mapping[str, str]

    def start(self, words: list[str], **options: Any) -> subprocess.Popen[str]:
        """Confined as a runtime confines it."""
        users = self.image.inside("/etc/passwd").read_text(encoding="utf-8").splitlines()
        account = next(line.split(":") for line in users if line.startswith(f"{self.image.user}:"))
        uid, gid, libc = int(account[2]), int(account[3]), ctypes.CDLL(None)
        ctypes.CDLL(seccomp.library())  # that of this machine, before its files are out of reach

        def confine() -> None:
            # the root of a mount namespace, as runtimes make it: who lives in a mere chroot gets no user namespace
            os.chdir(self.image.root)
            assert libc.unshare(NEWNS) == 0
            assert libc.mount(b".", b"/", None, MS_MOVE, None) == 0
            os.chroot(".")
            os.chdir(self.image.folder)
            seccomp.confine(self.profile)
            for capability in range(LAST_CAP + 1):
                libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)

        known = {
            name: value for name, value in self.image.variables().items() if not bare_root.SURROUNDINGS.fullmatch(name)
        }
        variables = known | {"HOME": account[5]} | self.more
        return subprocess.Popen(words, env=variables, preexec_fn=confine, text=True, **options)

    def ask(self, *words: str) -> dict[str, Any]:
        """The document of a command of the program."""
        with self.start(["python", "main.py", *words, "--json"], stdout=subprocess.PIPE) as asked:
            told, _ = asked.communicate(timeout=PATIENCE_S)
        found: dict[str, Any] = json.loads(told)
        return found

    @contextmanager
    def working(self) -> Iterator[None]:
        """While what the image starts by itself runs, and is well."""
        with self.start([*self.image.entrypoint, *self.image.command]) as worker:
            try:
                until(lambda: self.start(self.image.health, stderr=subprocess.DEVNULL).wait() == 0, "its health check")
                yield
                worker.terminate()
                assert worker.wait(PATIENCE_S) == 0, "it did not end well"
            finally:
                worker.kill()


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, f"{what} did not come true"
        time.sleep(0.5)


def forbidding(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The same without user namespaces, as Docker's and RuntimeDefault are."""
    compared = [{"index": 0, "value": NEWUSER, "valueTwo": NEWUSER, "op": "SCMP_CMP_MASKED_EQ"}]
    rule = {"names": ["clone", "unshare"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": compared}
    return {**profile, "syscalls": [*profile["syscalls"], rule]}


@contextmanager
def a_page() -> Iterator[str]:
    """An address where there is something to see."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>well</title><p id=well>well</p>")

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


def try_out(image: Image) -> None:
    """A worker opens a page where the profile lets it, and says what it lacks where it does not."""
    helper = image.inside("/usr/lib/chromium/chrome-sandbox").stat()
    assert (helper.st_uid, helper.st_mode & 0o7777) == (0, 0o4755), "the helper of chromium-sandbox"
    profile = json.loads(PROFILE.read_text(encoding="utf-8"))
    more = {"FLEETDECK_EXECUTORS__BROWSER__PRIVATE_HOSTS": "true"}
    with a_page() as address:
        payload = json.dumps({"steps": [{"do": "goto", "url": address}, {"do": "wait_for", "selector": "#well"}]})
        words = ("task", "create", "--type", "browser_flow", "--payload", payload, "--shop")
        shop = f"pdd:r{time.time_ns()}"  # a root that was kept knows the tasks of before
        good = Container(image, profile, more)
        with good.working():
            (task,) = good.ask(*words, shop)["created"]
            until(
                lambda: good.ask("task", "show", task)["task"]["status"] in ("succeeded", "dead"), "an end of the task"
            )
            shown = good.ask("task", "show", task)["task"]
            assert shown["status"] == "succeeded", shown
            print("a browser task ran with Chromium's sandbox, as", image.user, flush=True)
        bad = Container(image, forbidding(profile), more)
        with bad.working():
            bad.ask(*words, f"{shop}b")
            until(lambda: "doctor.no_sandbox" in str(bad.ask("doctor")), "that doctor names the sandbox")
            print("doctor names a worker whose sandbox is forbidden", flush=True)


def main() -> int:
    """Build and try it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT / "build" / "image", help="folder of the root; kept")
    args = parser.parse_args()
    missing = ", ".join(filter(None, [bare_root.lacking(), "" if seccomp.library() else "libseccomp"]))
    if missing:
        print(f"needs {missing}", file=sys.stderr)
        return 2
    if (code := bare_root.apart("tests.image.rehearse", ["--root", str(args.root)], ROOT)) is not None:
        return code
    image = Image(args.root.resolve())
    steps = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    image.build(steps)
    try_out(image)
    print("the rehearsal is over, all is well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
