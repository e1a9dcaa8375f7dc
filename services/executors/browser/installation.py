"""What of the optional part ``browser`` is installed here: Playwright, and a Chromium."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from services.executors.browser.orders import Setup
from services.settings.browser import BrowserSettings

#: where a browser may be, in this order
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


def has_playwright() -> bool:
    """Whether Playwright is there."""
    return importlib.util.find_spec("playwright") is not None


def program(settings: BrowserSettings, path: str | None) -> str:
    """Where Chromium is, "" for nowhere; ``path``: the folders to look in, None for those of this process."""
    for name in (settings.path,) if settings.path else NAMES:
        if found := shutil.which(name, path=path):
            return found
    return ""


def setup(settings: BrowserSettings, chromium: str, profiles: Path, folder: str, *, debug_port: bool = False) -> Setup:
    """How browsers are started here; ``folder`` is for what one process leaves."""
    profiles.mkdir(parents=True, exist_ok=True)
    return Setup(
        settings=settings,
        program=chromium or settings.path or "chromium",
        profiles=str(profiles),
        folder=folder,
        as_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        debug_port=debug_port,
    )
