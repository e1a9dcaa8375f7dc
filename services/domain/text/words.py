"""Words as people write them, made comparable: full-width letters, case, blanks and joints do not count."""

from __future__ import annotations

import re
import unicodedata

_JOINTS = re.compile(r"[\s_\-*:：·.、/]+")
#: what parts words that a person lists
COMMAS = ",，、"
_ASIDE = re.compile(r"[(（\[【].*?[)）\]】]")


def folded(word: str) -> str:
    """``Ｔａｓｋ Type`` and ``task_type`` are one word."""
    return _JOINTS.sub("", unicodedata.normalize("NFKC", word).casefold())


def heading(title: str) -> str:
    """The name of a column without what is said aside: ``* 店铺ID（必填）`` is ``店铺id``."""
    return folded(_ASIDE.sub("", title)) or folded(title)


def between_commas(text: str) -> list[str]:
    """Words with commas between them, of either language."""
    return [word for part in re.split(f"[{COMMAS}]", text) if (word := part.strip())]
