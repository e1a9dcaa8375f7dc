"""What of the optional part ``browser`` is installed here: Playwright, and a Chromium."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from services.executors.browser.orders import Setup
from services.settings import child_environment, console_environment, is_windows
from services.settings.browser import BrowserSettings

#: where a browser may be, in this order; on Windows it is on no path but registered, or where all programs are
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_APP_PATHS = r"SOFTWARE\Microsoft\Windows\CurrentVersion\App Paths"
_FOLDERS = ("LOCALAPPDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432")
_PARTS = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)


def has_playwright() -> bool:
    """Whether Playwright is there."""
    return importlib.util.find_spec("playwright") is not None


def playwright_version() -> str:
    """Which Playwright is there, "" for none."""
    try:
        return importlib.metadata.version("playwright")
    except importlib.metadata.PackageNotFoundError:
        return ""


def has_display() -> bool:
    """Whether somebody at this machine would see a window."""
    around = console_environment()
    return bool(around["DISPLAY"] or around["WAYLAND_DISPLAY"]) or is_windows() or sys.platform == "darwin"


def program(settings: BrowserSettings, path: str | None) -> str:
    """Where Chromium is, "" for nowhere; ``path``: the folders to look in, None for those of this process."""
    for name in (settings.path,) if settings.path else NAMES:
        if found := shutil.which(name, path=path):
            return found
    if settings.path or not is_windows():
        return ""
    known = child_environment()
    return _registered() or below(filter(None, (known.get(name) for name in _FOLDERS)))


def below(folders: Iterable[str]) -> str:
    """The first browser of Windows in folders that hold programs, "" where there is none."""
    places = [Path(folder) for folder in folders]
    found = (place / part for part in _PARTS for place in places if (place / part).is_file())
    return str(next(found, ""))


def _registered() -> str:
    if sys.platform == "win32":
        import winreg

        for name in ("chrome.exe", "msedge.exe"):
            for whose in (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE):
                with contextlib.suppress(OSError):
                    found = winreg.QueryValue(whose, rf"{_APP_PATHS}\{name}").strip('"')
                    if Path(found).is_file():
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
