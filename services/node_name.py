"""The name of this machine's node: it stays as long as the home folder does, for the browser profiles lie there."""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
from pathlib import Path

from services import home_folder, plain_file
from services.domain.gates import home

log = logging.getLogger(__name__)
FILE = "node"
_MOST_BYTES = 1000


def of(folder: Path) -> str:
    """What is written down in the home folder; made of the host's name the first time.

    Workers of one machine that share the folder share the name. Where nothing can be written the host's name is all.
    """
    place = folder / FILE
    if known := _read(place):
        return known
    host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:50].strip("-.") or "node"
    name = f"{host}-{secrets.token_hex(2)}"
    try:
        home_folder.make_private(folder)
        _write(place, name)
    except OSError as exc:
        log.warning("%s cannot be written, so this node is called %s: %s", place, host, exc)
        return host
    return _read(place) or name


def _write(place: Path, name: str) -> None:
    """Only one of several processes that begin together gives the name."""
    draft = place.with_name(f"{FILE}.{secrets.token_hex(4)}")
    draft.write_text(f"{name}\n", encoding="ascii")
    try:
        os.link(draft, place)
    except OSError:  # somebody was quicker, or there are no links on this disk
        if not _read(place):
            draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _read(place: Path) -> str:
    try:
        text = plain_file.read(place, _MOST_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if home.valid_node(text) else ""
