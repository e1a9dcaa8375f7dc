"""Names of tasks: how ours are made, and which of other programs are acceptable."""

from __future__ import annotations

import hashlib
import os
import re
import secrets

MAX_FOREIGN_ID = 200
_FOREIGN = re.compile(r"(?!\s*\Z)[ -~]{1,200}\Z")
_OURS = re.compile(r".+_(?:again|once)?[0-9a-f]{12,16}\Z")
_UNREAD = re.compile(r"bad_[0-9a-f]{16}\Z")
_TASK_TYPE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_RANDOM_HEX, _DRAWN = 12, 3072
_drawn: list[str] = []


def _random() -> str:
    """Drawn many at a time: each question to the system lets other threads go first, and a bulk asks thousands."""
    while True:
        try:
            return _drawn.pop()
        except IndexError:  # empty, maybe only since another thread took the last one
            digits = secrets.token_hex(_DRAWN)
            _drawn.extend(digits[at : at + _RANDOM_HEX] for at in range(0, len(digits), _RANDOM_HEX))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # parent and child must not give the same names


def new_task_id(platform: str, task_type: str, shop_id: str) -> str:
    """``{platform}_{task_type}_{shop_id}_{12 hex}``; the random part alone makes it unique in a fleet."""
    return task_id(platform, task_type, shop_id, _random())


def task_id(platform: str, task_type: str, shop_id: str, tail: str) -> str:
    """An id of ours that ends with ``tail``; long names before it are cut, for a longer id no worker would read."""
    return f"{f'{platform}_{task_type}_{shop_id}'[: MAX_FOREIGN_ID - len(tail) - 1]}_{tail}"


def again_id(platform: str, task_type: str, shop_id: str, old: str) -> str:
    """The one id under which a cancelled task is created again, so that asking twice makes it once."""
    return task_id(platform, task_type, shop_id, f"again{hashlib.sha256(old.encode()).hexdigest()[:16]}")


def once_id(platform: str, task_type: str, shop_id: str, name: str) -> str:
    """The one id of what is asked for under a name, so that asking twice makes it once."""
    return task_id(platform, task_type, shop_id, f"once{hashlib.sha256(name.encode()).hexdigest()[:16]}")


def valid_foreign_id(text: object) -> bool:
    """Whether ``text`` may name a task: at most 200 printable ASCII characters, not all blank."""
    return isinstance(text, str) and _FOREIGN.match(text) is not None


def is_ours(text: str) -> bool:
    """Whether a text is made as the ids of this program are."""
    return _OURS.match(text) is not None


def unread_id(digest: str) -> str:
    """What a message is called that is no task, by the digest of its bytes."""
    return f"bad_{digest[:16]}"


def is_unread(text: str) -> bool:
    """Whether a record is called so: no task was ever made of its message. Another program may call its own bad_1."""
    return _UNREAD.match(text) is not None


def valid_task_type(text: object) -> bool:
    """Whether ``text`` may name a task type: a word, never a dotted path to import."""
    return isinstance(text, str) and _TASK_TYPE.match(text) is not None


def profile_id(platform: str, shop_id: str) -> str:
    """Folder-safe name of a shop's browser profile: no two shops share one, not even where case does not count.

    ``platform_shop`` with capitals written ``+a`` and underscores of the platform ``+_``, so that the first plain
    underscore divides the two.
    """
    return f"{_lowered(platform).replace('_', '+_')}_{_lowered(shop_id)}"


def _lowered(word: str) -> str:
    return "".join(f"+{letter.lower()}" if letter.isupper() else letter for letter in word)
