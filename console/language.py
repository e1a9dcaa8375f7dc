"""The language to begin with."""

from __future__ import annotations

from services import settings as config


def chosen_language(stored: str, configured: str) -> str:
    """The language to begin with: of the environment, as chosen in the window before, configured, the system's."""
    language = config.language_asked_for() or stored or configured or _system_language()
    return language if language in ("en", "zh_CN") else "en"


def _system_language() -> str:
    around = config.console_environment()
    words = around["LC_ALL"] or around["LC_MESSAGES"] or around["LANG"]
    if not words and config.is_windows():
        import locale

        words = locale.getlocale()[0] or ""
    return "zh_CN" if words.lower().startswith(("zh", "chinese")) else "en"
