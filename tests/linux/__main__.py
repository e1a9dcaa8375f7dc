"""``make linux-test``: makes the package, installs it over a copy of this machine, works with it, and removes it again.

python -m tests.linux [--out DIR]      as root; what is installed goes into memory and is gone afterwards
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.linux import package

#: runs over the copy: each line is a step that has to succeed
_STEPS = """
set -eux
mount -t tmpfs -o size=3g tmpfs "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
mount -t proc proc "$WORK/root/proc"
mount --rbind /dev "$WORK/root/dev"
mount -t tmpfs tmpfs "$WORK/root/tmp"
cp "$PACKAGE" "$WORK/root/tmp/fleetdeck.deb"
exec chroot "$WORK/root" /bin/sh -eux -c "$INSIDE"
"""
_INSIDE = """
export HOME=/tmp/person FLEETDECK_HOME=/tmp/person/fleet PYTHONPATH=/nowhere
mkdir -p "$HOME" "$FLEETDECK_HOME"; cd /
dpkg -i /tmp/fleetdeck.deb
fleetdeck --version
xdg-mime query default x-scheme-handler/fleetdeck || true
grep -q 'x-scheme-handler/fleetdeck' /usr/share/applications/fleetdeck.desktop
printf '%s\n' '[executors.rpa]' 'command = ["/bin/sh", "-c", "echo {\\"result\\": 1}"]' >"$FLEETDECK_HOME/config.toml"
fleetdeck task create --type sync_order --shop pdd:s1 --payload '{"since": "2026-11-20"}'
fleetdeck worker --drain
fleetdeck task list --json | grep -q '"succeeded"'
xvfb-run -a -s "-screen 0 1280x800x24" fleetdeck --profile local --page tasks --screenshot /tmp/installed.png
dpkg -i /tmp/fleetdeck.deb
dpkg -r fleetdeck
test ! -e /usr/lib/fleetdeck
test ! -e /usr/bin/fleetdeck
test -s "$FLEETDECK_HOME/local.sqlite"
cat /tmp/installed.png >&3
"""


def main() -> int:
    """Make it and try it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("build/linux"))
    args = words.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    made = package.build(args.out.absolute())  # never one that lies there: it may be of another state
    with tempfile.TemporaryDirectory() as work, (args.out / "installed.png").open("wb") as picture:
        around = {
            "WORK": work,
            "PACKAGE": str(made.absolute()),
            "INSIDE": _INSIDE,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        }
        # mounts of a namespace of its own end with it; the picture comes out by a descriptor
        steps = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{_STEPS}"]
        done = subprocess.run(
            ["sh", "-c", 'exec 3>&"$1"; shift; exec "$@"', "sh", str(picture.fileno()), *steps],
            env=around, pass_fds=[picture.fileno()], check=False,
        )  # fmt: skip
    print(
        "failed" if done.returncode else f"installed, worked with and removed; its window: {args.out / 'installed.png'}"
    )
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
