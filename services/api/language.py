"""Which language somebody is answered in."""

from __future__ import annotations

from services import i18n


def chosen(accepted: str) -> str:
    """The code of the language that a header Accept-Language wants most, of those that there are."""
    found: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted.split(",")[:20]):
        name, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            quality = 0.0
        code = {"zh": "zh_CN", "en": "en"}.get(name.strip().lower().partition("-")[0])
        if code is not None and quality > 0:
            found.append((-quality, place, code))
    return min(found)[2] if found else i18n.SOURCE_LANGUAGE
