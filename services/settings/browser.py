"""How this machine's browsers are started and shared; nothing of it ever comes from a message."""

from __future__ import annotations

import msgspec

LOGIN_PAGES = r"/(log-?in|sign-?in|passport)\b"
CAPTCHAS = "[class*=captcha], [id*=captcha], iframe[src*=captcha]"


class BrowserShopSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one shop's browser has of its own; empty values fall back to those of all shops."""

    proxy: str = ""  #: http://user:password@host:port or socks5://…
    user_agent: str = ""
    viewport: str = ""  #: WIDTHxHEIGHT
    locale: str = ""
    time_zone: str = ""


class BrowserSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The executor ``browser`` and its pool."""

    path: str = ""  #: of Chromium; "" looks for one
    headless: bool = True
    arguments: tuple[str, ...] = ()  #: more words for Chromium's command line
    profiles: str = ""  #: folder of the shops' profiles; "" for one beside config.toml
    max_total: int = 4  #: Chromium processes at once
    min_idle: int = 1  #: so many stay open however long nothing needs them
    idle_seconds: float = 300.0
    acquire_seconds: float = 30.0  #: a task waits so long for a browser before it goes back to the queue, uncounted
    max_age_seconds: float = 3600.0
    max_uses: int = 100
    max_memory_mb: float = 1500.0
    max_contexts: int = 8  #: light contexts at once in the shared browser
    step_seconds: float = 30.0  #: time-out of a step that names none
    cancel_grace_seconds: float = 2.0
    download_mb: float = 50.0
    upload_folder: str = ""  #: files that ``upload`` may take; "" for none
    allowed_schemes: tuple[str, ...] = ("http", "https")
    login_pages: str = LOGIN_PAGES  #: regular expression of addresses that ask to log in
    captchas: str = CAPTCHAS  #: selector of what asks for a person
    hosts: tuple[str, ...] = ()  #: names that may be private, beside those of ``sites``: ``erp.local``, ``*.corp``
    private_hosts: bool = False  #: any host may be private
    sites: dict[str, str] = {}  #: by platform: what paths such as /orders are taken on
    proxy: str = ""
    user_agent: str = ""
    viewport: str = "1366x768"
    locale: str = "zh-CN"
    time_zone: str = ""
    shops: dict[str, BrowserShopSettings] = {}  #: by platform:shop_id
