"""Headers of the original message as rows. Pure."""

from __future__ import annotations

import json

from services.domain.text import mask
from services.monitor.tasks import TaskDetail
from views.support import safe


def headers_of(detail: TaskDetail) -> list[tuple[str, str]]:
    """Where the message lay and what it carried; nothing where the letter is not kept."""
    letter = detail.letter
    if letter is None:
        return []
    rows = [("queue", letter.queue), ("routing-key", letter.routing_key), ("content-type", letter.content_type)]
    try:
        kept = json.loads(letter.headers)
    except ValueError:
        kept = {"headers": letter.headers}
    if isinstance(kept, dict):
        rows += [
            (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in kept.items()
        ]
    return [(name, safe.cut(_dotted(name, value), 400)) for name, value in rows if value]


def _dotted(name: str, value: str) -> str:
    """A header called like a secret is one."""
    return mask.DOTS if mask.is_secret(name) else mask.masked_text(value)
