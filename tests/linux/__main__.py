"""``make linux-test``: makes the package, installs it over a copy of this machine, works with it, and removes it again.

python -m tests.linux [--out DIR] [--bare bookworm|trixie]

As root; what is installed goes into memory and is gone afterwards. ``--bare``: over a Debian with nothing in it, made
once below --out, to which the package brings all it needs; the screen is this machine's.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.linux import package
from tests.support import bare_root

#: the Python that a Debian has
_SUITES = {"bookworm": "3.11", "trixie": "3.13"}

#: runs over the copy: each line is a step that has to succeed
_STEPS = """
set -eux
mount -t tmpfs -o size=3g tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
mount -t proc proc "$WORK/root/proc"
mount --rbind /dev "$WORK/root/dev"
mount -t tmpfs tmpfs "$WORK/root/tmp"
cp "$PACKAGE" "$WORK/root/tmp/fleetdeck.deb"
exec chroot "$WORK/root" /bin/sh -eux -c "$INSIDE"
"""
_INSIDE = """
export HOME=/tmp/person FLEETDECK_HOME=/tmp/person/fleet PYTHONPATH=/nowhere
mkdir -p "$HOME" "$FLEETDECK_HOME"; cd /
$INSTALL /tmp/fleetdeck.deb
fleetdeck --version
xdg-mime query default x-scheme-handler/fleetdeck || true
grep -q 'x-scheme-handler/fleetdeck' /usr/share/applications/fleetdeck.desktop
printf '%s\n' '[executors.rpa]' 'command = ["/bin/sh", "-c", "echo {\\"result\\": 1}"]' >"$FLEETDECK_HOME/config.toml"
fleetdeck task create --type sync_order --shop pdd:s1 --payload '{"since": "2026-11-20"}'
fleetdeck worker --drain
fleetdeck task list --json | grep -q '"succeeded"'
fleetdeck --profile local --page tasks --screenshot /tmp/installed.png
dpkg -i /tmp/fleetdeck.deb
dpkg -r fleetdeck
test ! -e /usr/lib/fleetdeck
test ! -e /usr/bin/fleetdeck
test -s "$FLEETDECK_HOME/local.sqlite"
cat /tmp/installed.png >&3
"""


def main() -> int:
    """Make it and try it; 2 where a bare root cannot be made."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--out", type=Path, default=Path("build/linux"))
    words.add_argument("--bare", choices=_SUITES, default="")
    args = words.parse_args()
    if args.bare and (missing := bare_root.lacking()):
        print(f"needs {missing}", file=sys.stderr)
        return 2
    if args.bare and (code := bare_root.apart("tests.linux", sys.argv[1:], Path.cwd())) is not None:
        return code
    args.out.mkdir(parents=True, exist_ok=True)
    out, lower = args.out.absolute(), Path("/")
    made = package.build(out, _SUITES.get(args.bare, "3.11"))  # never one that lies there: it may be of another state
    around = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "INSTALL": "dpkg -i"}
    if args.bare:
        lower = out / args.bare
        bare_root.open_root(lower, args.bare, "ca-certificates")
        install = "apt-get install -y -qq --no-install-recommends"
        around = bare_root.variables() | {"INSTALL": install}
    picture = out / f"{'-'.join(filter(None, ('installed', args.bare)))}.png"
    with tempfile.TemporaryDirectory() as work, picture.open("wb") as drawn, _screen() as display:
        around |= {"WORK": work, "PACKAGE": str(made), "LOWER": str(lower), "DISPLAY": display}
        around["INSIDE"] = f"{'apt-get update -qq' if args.bare else ':'}\n{_INSIDE}"
        # mounts of a namespace of its own end with it; the picture comes out by a descriptor
        steps = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _STEPS]
        done = subprocess.run(
            ["sh", "-c", 'exec 3>&"$1"; shift; exec "$@"', "sh", str(drawn.fileno()), *steps],
            env=around, pass_fds=[drawn.fileno()], check=False,
        )  # fmt: skip
    print("failed" if done.returncode else f"installed, worked with and removed; its window: {picture}")
    return 1 if done.returncode else 0


@contextlib.contextmanager
def _screen() -> Iterator[str]:
    """Of this machine, for whoever asks: what is installed brings none."""
    read, write = os.pipe()
    words = ["Xvfb", "-displayfd", str(write), "-ac", "-screen", "0", "1280x800x24"]
    server = subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
