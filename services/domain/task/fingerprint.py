"""What equal failures share: the error text without everything that differs from task to task, hashed."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from services.domain.task import classify
from services.domain.text.late import late

_TAIL = 8_000
_ID = "#"
_QUOTED = "<q>"
_URL = late(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>，。；）)\]}]*", re.IGNORECASE)
_EMAIL = late(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_DOUBLE = late(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|【[^】\n]*】|‘[^’\n]*’|`[^`\n]*`")
_SINGLE = late(r"(?<!\w)'[^'\n]*'(?!\w)")
_PATH = late(r"(?<![\w:/\\.])(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}/)[^\s:,;\"'<>|()\[\]，。；：]+")
#: a token with a digit in it is an id, a number, a time, a uuid, a port, a shop
_NUMBER = late(r"(?<![A-Za-z0-9_-])[A-Za-z_-]*[0-9][A-Za-z0-9_-]*")
#: hexadecimal ids that happen to have no digit
_HEX = late(r"(?<![A-Za-z0-9_-])[a-f]{8,}(?![A-Za-z0-9_-])", re.IGNORECASE)
_RUN = late(r"#(?:[ ]?[-+.:,/_%][ ]?#)+")
_SPACE = late(r"\s+")
_FRAME = late(r"^\s*File \"[^\"\n]*\", line \d+, in (\S+)", re.MULTILINE)


def fingerprint(task_type: str, kind: str, error: str) -> str:
    """16 hex characters that equal failures of one task type share.

    The telling line counts, and of a Python traceback the innermost function, so that the same exception from two
    places makes two clusters.
    """
    frames = _FRAME.findall(error[-_TAIL:])
    place = normalise(frames[-1]) if frames else ""
    parts = (task_type, kind, place, normalise(classify.telling_line(error)))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def normalise(text: str) -> str:
    """Strip ids, numbers, URLs, e-mail addresses, quoted values, times and paths; lower case, single spaces."""
    text = unicodedata.normalize("NFKC", classify.clean(text[-_TAIL:]))
    text = _URL.sub("<url>", text)
    text = _EMAIL.sub("<mail>", text)
    text = _SINGLE.sub(_QUOTED, _DOUBLE.sub(_QUOTED, text))
    text = _PATH.sub("<path>", text)
    text = _HEX.sub(_ID, _NUMBER.sub(_ID, text))
    text = _RUN.sub(_ID, text)
    return _SPACE.sub(" ", text).strip().casefold()
