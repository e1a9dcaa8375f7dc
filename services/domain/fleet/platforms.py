"""What platforms are called: the code that routes, and the names that people write for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.text.words import folded

#: names by code, in any language; the code itself and its capitals go without saying
NAMES: Mapping[str, tuple[str, ...]] = {
    "pdd": ("Pinduoduo", "拼多多", "多多"),
    "temu": ("TEMU", "特木", "拼多多跨境"),
    "tiktok": ("TikTok Shop", "TikTok", "TTS", "TK", "TikTok 小店", "抖音海外"),
    "tts": ("TikTok Shop", "TikTok", "TK", "TikTok 小店"),
    "douyin": ("抖店", "抖音", "抖音小店", "Douyin"),
    "taobao": ("淘宝", "Taobao"),
    "tmall": ("天猫", "Tmall"),
    "jd": ("京东", "JD.com", "Jingdong"),
    "shopee": ("Shopee", "虾皮"),
    "lazada": ("Lazada", "来赞达"),
    "kuaishou": ("快手", "快手小店", "Kuaishou"),
    "xiaohongshu": ("小红书", "xhs", "RED"),
    "amazon": ("Amazon", "亚马逊"),
    "shein": ("SHEIN", "希音"),
    "aliexpress": ("AliExpress", "速卖通"),
    "1688": ("阿里巴巴", "Alibaba"),
}


def codes_of(word: str, known: Iterable[str]) -> list[str]:
    """Which of the ``known`` codes a word names, in any case and language; the code itself goes before names."""
    codes, meant = list(known), folded(word)
    if word in codes:
        return [word]
    exact = [code for code in codes if folded(code) == meant]
    return exact or [code for code in codes if meant in map(folded, NAMES.get(code, ()))]


def listed(codes: Iterable[str]) -> str:
    """Codes with the names that people know them by: ``pdd (Pinduoduo, 拼多多), temu (TEMU, 特木)``."""
    known = {code: ", ".join(NAMES[code][:2]) if code in NAMES else "" for code in sorted(codes)}
    return ", ".join(f"{code} ({names})" if names else code for code, names in known.items())
