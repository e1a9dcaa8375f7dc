"""Every colour, size and glyph of the design: the only module with hex values.

    tokens("dark").role("accent")          "#6CA6FF"
    tokens("dark").tint("dead", 12)        12 % of dead over surface
    STATUSES["retrying"].glyph             "ph.arrow-clockwise-bold"

Names of roles and what they are for: UX.md section 2. A status names the role of its colour,
so that delegates and QSS need one look-up for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from services.called import LANE_WORDS
from services.domain.gates import listed
from services.i18n import N_

DARK, LIGHT = "dark", "light"

_COLOURS: Mapping[str, tuple[str, str]] = {
    # each role, dark then light
    "bg": ("#0F1217", "#F4F6F9"),
    "rail": ("#0B0D11", "#ECEFF3"),
    "surface": ("#151920", "#FFFFFF"),
    "table": ("#0F1217", "#FFFFFF"),
    "raised": ("#1B2029", "#F6F8FA"),
    "input": ("#10141A", "#FFFFFF"),
    "hover": ("#1F2530", "#EEF2F7"),
    "sel": ("#1A2B47", "#E1ECFE"),
    "selline": ("#3D6FBF", "#7FA9EE"),
    "line": ("#232A35", "#E2E6EC"),
    "line2": ("#343D4B", "#C8D0DA"),
    "ctl": ("#6C788D", "#7A8595"),
    "text": ("#E8ECF2", "#161B24"),
    "text2": ("#A9B3C1", "#465163"),
    "text3": ("#8A96A7", "#5F6B7C"),
    "dis": ("#566072", "#9AA4B2"),
    "accent": ("#6CA6FF", "#1B5BCB"),
    "accentbg": ("#2A66D9", "#1F5FD0"),
    "accenthover": ("#3570E2", "#1A54BC"),
    "dangerbg": ("#C8401F", "#B93411"),
    "dangerhover": ("#CE4624", "#A32D0E"),
    "white": ("#FFFFFF", "#FFFFFF"),
    "deadfill": ("#F0654F", "#D8404F"),
    "retryfill": ("#EDBB43", "#C98700"),
    "stuckfill": ("#EE9BD3", "#C653A4"),
    "heldfill": ("#EEF1F6", "#272E3A"),
    "loginfill": ("#F58F3C", "#BF5600"),
    "breakerfill": ("#B58A22", "#8A6A00"),
    "unknownfill": ("#78849A", "#727D8D"),
    "onheld": ("#14181F", "#FFFFFF"),
    "onfill": ("#1A1110", "#FFFFFF"),
    "onretry": ("#1A1110", "#1A1110"),
    "okcell": ("#1B423C", "#CDE9E1"),
    "shadow": ("#000000", "#3A4658"),
    # statuses
    "waiting": ("#8F9BAB", "#4C5665"),
    "scheduled": ("#9A7FEE", "#4A27A8"),
    "running": ("#63B5FF", "#1563C6"),
    "succeeded": ("#3CCB9F", "#0A7A5E"),
    "retrying": ("#F4C34A", "#7A5B00"),
    "dead": ("#FF6F5B", "#CB2438"),
    "stuck": ("#F3A0D8", "#AE2F8C"),
    "login": ("#FFA257", "#A04700"),
    # lanes: charts and glyphs only, never text
    "lane.high": ("#7FD8EA", "#128BA3"),
    "lane.dedicated": ("#B79CF5", "#8A62DA"),
    "lane.normal": ("#4F8FF7", "#2F6FE4"),
    "lane.low": ("#6A6FD6", "#4B50B8"),
}

_ALIASES: Mapping[str, str] = {
    "focus": "accent",
    "cancelled": "text3",
    "paused": "text3",
    "paused_type": "text3",
    "unconfirmed": "text3",
    "blocked": "retrying",
    "warning": "retrying",
    "held": "retrying",
    "breaker": "retrying",
    "unknown": "text3",
    "healthy": "succeeded",
    "idle": "waiting",
}

_HIGH_CONTRAST: Mapping[str, str] = {"line2": "ctl", "text3": "text2", "line": "line2"}


class StatusToken(msgspec.Struct, frozen=True):
    """Glyph, colour role and word of one state; never show one without the others."""

    role: str
    glyph: str
    fallback: str  #: the mdi6 name, for a machine whose Phosphor font will not load
    word: str  #: source text, translate with ``_``


STATUSES: Mapping[str, StatusToken] = {
    "waiting": StatusToken("waiting", "ph.circle-dashed", "mdi6.circle-outline", N_("Waiting")),
    "scheduled": StatusToken("scheduled", "ph.clock", "mdi6.clock-outline", N_("Scheduled")),
    "running": StatusToken("running", "ph.play-circle-fill", "mdi6.play-circle", N_("Running")),
    "succeeded": StatusToken("succeeded", "ph.check-circle", "mdi6.check-circle-outline", N_("Succeeded")),
    "retrying": StatusToken("retrying", "ph.arrow-clockwise-bold", "mdi6.refresh", N_("Retrying")),
    "dead": StatusToken("dead", "ph.x-circle-fill", "mdi6.close-circle", N_("Dead letter")),
    "stuck": StatusToken("stuck", "ph.hourglass-medium-fill", "mdi6.timer-sand-full", N_("Stuck")),
    "cancelled": StatusToken("cancelled", "ph.prohibit", "mdi6.cancel", N_("Cancelled")),
    **{gate: StatusToken("paused", one.glyph, one.fallback, one.word) for gate, one in listed.SWITCHES.items()},
    "paused_type": StatusToken("paused", "ph.pause-circle-fill", "mdi6.pause-circle", N_("Type paused")),
    "unconfirmed": StatusToken("unconfirmed", "ph.question", "mdi6.help-circle-outline", N_("Unconfirmed")),
    "held": StatusToken("held", "ph.circle-wavy-question-fill", "mdi6.alert-octagram", N_("Held for a person")),
    "login": StatusToken("login", "ph.lock-simple-fill", "mdi6.lock", N_("Needs login")),
    "breaker": StatusToken("breaker", "ph.lightning-slash-fill", "mdi6.flash-off", N_("Fails too often")),
    "unknown": StatusToken("unknown", "ph.eye-slash", "mdi6.eye-off-outline", N_("Unknown")),
    "blocked": StatusToken("blocked", "ph.hand-palm-fill", "mdi6.hand-front-right", N_("Publisher blocked")),
    "warning": StatusToken("warning", "ph.warning-fill", "mdi6.alert", N_("Warning")),
    "healthy": StatusToken("healthy", "ph.check-circle-fill", "mdi6.check-circle", N_("Healthy")),
    "muted": StatusToken("paused", "ph.bell-slash", "mdi6.bell-off-outline", N_("Muted")),
    "undone": StatusToken("cancelled", "ph.arrow-counter-clockwise", "mdi6.undo", N_("Undone")),
    "idle": StatusToken("idle", "ph.circle", "mdi6.circle-outline", N_("Idle")),
}

#: Recorded states (DESIGN.md 1) shown under the word and glyph of another.
_SHOWN_AS: Mapping[str, str] = {
    "pending": "waiting",
    "queued": "waiting",
    "unregistered": "unconfirmed",
    "draining": "scheduled",
    "ok": "healthy",
    "error": "dead",
}


def status(name: str, *, gated: bool = False) -> StatusToken:
    """Return glyph, colour and word of `name`; one that only a newer program knows shows as unknown.

    A *task* that is ``blocked`` waits at a gate: pass ``gated=True`` for tasks, since the
    plain word "blocked" belongs to a publisher held back by the broker.
    """
    key = _SHOWN_AS.get(name, name)
    if gated and key == "blocked":
        key = "waiting"
    return STATUSES.get(key, STATUSES["unknown"])


class LaneToken(msgspec.Struct, frozen=True):
    """Glyph, chart colour and word of one lane."""

    role: str
    glyph: str
    fallback: str
    word: str  #: source text, translate with ``pgettext("lane", word)``


LANES: Mapping[str, LaneToken] = {
    "high": LaneToken("lane.high", "ph.caret-double-up-bold", "mdi6.chevron-double-up", LANE_WORDS["high"]),
    "dedicated": LaneToken("lane.dedicated", "ph.star-four-fill", "mdi6.star-four-points", LANE_WORDS["dedicated"]),
    "normal": LaneToken("lane.normal", "ph.minus-bold", "mdi6.minus", LANE_WORDS["normal"]),
    "low": LaneToken("lane.low", "ph.caret-double-down-bold", "mdi6.chevron-double-down", LANE_WORDS["low"]),
}

#: Platforms have no colour, so that they cannot be read as a state.
PLATFORM_BADGES: Mapping[str, str] = {
    "pdd": "PDD",
    "temu": "TEMU",
    "tiktok": "TTS",
    "tts": "TTS",
    "taobao": "TB",
    "tmall": "TM",
    "jd": "JD",
    "douyin": "DY",
    "kuaishou": "KS",
    "xiaohongshu": "XHS",
    "amazon": "AMZ",
    "shopee": "SPE",
    "lazada": "LZD",
    "shein": "SHEIN",
    "aliexpress": "AE",
}


def platform_badge(platform: str) -> str:
    """Return the short text badge of a platform, for unknown ones its first four letters."""
    return PLATFORM_BADGES.get(platform.lower(), platform.upper()[:4])


class TypeToken(msgspec.Struct, frozen=True):
    """One step of the type scale: pixels, weight, and the pixels Chinese text gets at least."""

    px: float
    weight: int
    zh_px: float = 12
    tabular: bool = False  #: figures of one width; they widen the hyphen too, so not for words


TYPE: Mapping[str, TypeToken] = {
    "kpi": TypeToken(25, 600, tabular=True),
    "number": TypeToken(34, 600, tabular=True),
    "page": TypeToken(17, 600),
    "brand": TypeToken(14, 600),
    "panel": TypeToken(15, 600),
    "card": TypeToken(13, 550),
    "body": TypeToken(13, 400),
    "strong": TypeToken(13, 500),
    "table": TypeToken(12.5, 400, 13, tabular=True),
    "tablestrong": TypeToken(12.5, 500, 13, tabular=True),
    "label": TypeToken(12, 400),
    "labelstrong": TypeToken(12, 500),
    "caption": TypeToken(11, 400, tabular=True),
    "captionstrong": TypeToken(11, 500, tabular=True),
    "badge": TypeToken(10, 600, 10),
    "mono": TypeToken(12, 400),
    "monosmall": TypeToken(11, 400),
}

MONO_KINDS = frozenset({"mono", "monosmall"})
SANS_FAMILIES = ("Inter", "Microsoft YaHei UI", "Noto Sans SC", "PingFang SC")
MONO_FAMILIES = ("JetBrains Mono", "Microsoft YaHei UI", "Noto Sans SC", "PingFang SC")

PAGE_MARGIN, CARD_GAP, CARD_PADDING = 16, 12, 12

RADIUS_CHECK, RADIUS_CELL, RADIUS_BUTTON, RADIUS_CARD, RADIUS_DIALOG = 3, 4, 6, 8, 10

TOP_BAR, STATUS_BAR, PAGE_HEADER, TABS, FILTER_BAR = 48, 26, 48, 34, 43
TABLE_HEADER, BUTTON, BUTTON_SMALL, FIELD, NAV_ITEM = 28, 28, 24, 28, 32
ROW_HEIGHTS: Mapping[str, int] = {"normal": 28, "compact": 24, "roomy": 34}
#: sizes of text in percent that a person may choose, on top of the scale of the screen
TEXT_SIZES = (90, 100, 110, 120, 130)

RAIL, RAIL_COLLAPSED, DETAIL, DETAIL_MIN, DETAIL_MAX = 196, 52, 440, 320, 720
QWIDGETSIZE_MAX = (1 << 24) - 1  #: Qt's own name for no limit, which PySide does not export
RAIL_COLLAPSES_BELOW = 1280

ICON = 16


class Tokens(msgspec.Struct, frozen=True):
    """The colours of one theme."""

    name: str
    high_contrast: bool = False

    def role(self, name: str) -> str:
        """Return the hex value of a role, status, lane or alias."""
        key = _ALIASES.get(name, name)
        if self.high_contrast:
            key = _HIGH_CONTRAST.get(key, key)
        dark, light = _COLOURS[key]
        return dark if self.name == DARK else light

    def tint(self, name: str, percent: float, over: str = "surface") -> str:
        """Return `percent` of one role laid over another, as hex."""
        top, base = _channels(self.role(name)), _channels(self.role(over))
        share = percent / 100
        mixed = (round(t * share + b * (1 - share)) for t, b in zip(top, base, strict=True))
        return "#{:02X}{:02X}{:02X}".format(*mixed)

    def roles(self) -> tuple[str, ...]:
        """Return every role name, aliases included."""
        return (*_COLOURS, *_ALIASES)


def _channels(value: str) -> tuple[int, int, int]:
    return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)


@cache
def tokens(name: str, high_contrast: bool = False) -> Tokens:
    """Return the tokens of ``dark`` or ``light``."""
    return Tokens(DARK if name == DARK else LIGHT, high_contrast)
