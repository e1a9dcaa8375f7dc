"""The only reader of the environment and of config.toml: one frozen value, made once at start."""

from __future__ import annotations

from services.settings.browser import BrowserSettings, BrowserShopSettings
from services.settings.environment import (
    child_environment,
    console_environment,
    default_home,
    is_windows,
    language_asked_for,
    launched,
    names_connection,
    names_servers,
    system_language,
    use_offscreen,
)
from services.settings.reading import UNNAMED, language_configured, load
from services.settings.values import (
    HOLD,
    BrokerSettings,
    ExecutorSettings,
    LeaseSettings,
    ProfileSettings,
    RetentionSettings,
    RetrySettings,
    RpaSettings,
    Settings,
    StoreSettings,
    WorkerSettings,
)

__all__ = [
    "HOLD",
    "UNNAMED",
    "BrokerSettings",
    "BrowserSettings",
    "BrowserShopSettings",
    "ExecutorSettings",
    "LeaseSettings",
    "ProfileSettings",
    "RetentionSettings",
    "RetrySettings",
    "RpaSettings",
    "Settings",
    "StoreSettings",
    "WorkerSettings",
    "child_environment",
    "console_environment",
    "default_home",
    "is_windows",
    "language_asked_for",
    "language_configured",
    "launched",
    "load",
    "names_connection",
    "names_servers",
    "system_language",
    "use_offscreen",
]
