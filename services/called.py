"""What people call the codes that stand in sentences, in the present language: platforms, lanes, scopes, gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.domain.alerts import rule
from services.domain.gates import listed
from services.domain.text.message import Param
from services.domain.text.sentences import N_, NP_
from services.i18n import _, is_chinese, pgettext

PLATFORM_NAMES: Mapping[str, str] = {
    "pdd": N_("Pinduoduo"),
    "temu": "TEMU",
    "tiktok": "TikTok Shop",
    "tts": "TikTok Shop",
    "taobao": N_("Taobao"),
    "tmall": N_("Tmall"),
    "jd": N_("JD"),
    "douyin": N_("Douyin"),
    "kuaishou": N_("Kuaishou"),
    "xiaohongshu": N_("Xiaohongshu"),
    "amazon": "Amazon",
    "shopee": "Shopee",
    "lazada": "Lazada",
    "shein": "SHEIN",
    "aliexpress": "AliExpress",
}
#: source texts, translated with ``pgettext("lane", word)``
LANE_WORDS: Mapping[str, str] = {
    "high": NP_("lane", "High"),
    "dedicated": NP_("lane", "Dedicated"),
    "normal": NP_("lane", "Normal"),
    "low": NP_("lane", "Low"),
}
SEVERITY_WORDS: Mapping[str, str] = {
    rule.CRITICAL: N_("Critical"),
    rule.WARNING: N_("Warning"),
    rule.NOTE: N_("Note"),
}
_GATES: Mapping[str, str] = {gate.name: gate.short for gate in listed.ORDER}


def platform(code: str) -> str:
    """The name of a platform; an unknown one is its own."""
    return _(PLATFORM_NAMES[code]) if code in PLATFORM_NAMES else code


def lane(code: str) -> str:
    """The word for a lane, within a sentence."""
    return pgettext("lane", LANE_WORDS[code]).lower() if code in LANE_WORDS else code


def severity(code: str) -> str:
    """How bad an incident is, within a sentence."""
    return _(SEVERITY_WORDS[code]).lower() if code in SEVERITY_WORDS else code


def gate(name: str) -> str:
    """The few words for a gate."""
    return _(_GATES[name]) if name in _GATES else name


def scope(code: str) -> str:
    """What a pause or a limit covers: ``platform:temu`` as TEMU; what is no code is said already."""
    head, colon, name = code.partition(":")
    if code == "all":
        return _("Everything")
    if not colon or head not in ("platform", "shop", "type"):
        return code
    return platform(name) if head == "platform" else name


#: parameters of sentences that are codes, several of them parted by commas
_NAMED: Mapping[str, Callable[[str], str]] = {
    "platform": platform,
    "platforms": platform,
    "lane": lane,
    "lanes": lane,
    "severity": severity,
}


def named(params: Mapping[str, Param]) -> dict[str, Param]:
    """What fills a sentence, with platforms, lanes and severities as people call them."""
    comma = "、" if is_chinese() else ", "
    return {
        name: comma.join(map(_NAMED[name], value.split(", "))) if name in _NAMED and isinstance(value, str) else value
        for name, value in params.items()
    }
