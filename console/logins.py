"""The browsers of shops, opened on this machine for a person to log in, as ``shop login`` does."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace

from services import assembly
from services.assembly import Engine
from services.commands.sessions import SessionCommands
from services.domain.errors import OperatorError
from services.i18n import _

CLOSE_S = 10.0
#: (platform, shop id, page to begin with, what ends it) → whether the page seen last asked for nothing
Browse = Callable[[str, str, str, threading.Event], bool]


class ShopLogins:
    """Each shop's at most once at a time; those still open end with the console."""

    def __init__(
        self,
        engine: Engine,
        sessions: SessionCommands,
        browse: Browse | None = None,
        page: Callable[[str], str] = lambda _shop: "",
    ) -> None:
        """``browse``: instead of a browser with a window; ``page``: where a shop logs in that no setting tells of."""
        self._engine, self._sessions, self._page = engine, sessions, page
        self._browse = browse or self._browser
        self._stop = threading.Event()
        self._open: set[str] = set()
        self._changed = threading.Condition()

    def elsewhere(self, shop: str) -> str:
        """The node on which the profile of a shop (``platform:shop_id``) lives, "" for this one or none. Blocking."""
        home = self._engine.store.homes([shop]).get(shop)
        return home.node if home is not None and home.node != assembly.node_of(self._engine.settings) else ""

    def log_in(self, shop: str) -> bool:
        """Open the shop's browser and wait, perhaps for minutes, until the person has closed it; whether it is logged
        in now, whereupon its tasks go on.

        Raises:
            OperatorError: it is open already, cannot be opened here, or the role may not.
        """
        with self._changed:
            if shop in self._open:
                said = _("The browser of {shop} is open already: log in there, then close its window.")
                raise OperatorError(said.format(shop=shop), field="shop")
            self._open.add(shop)
        platform, _colon, shop_id = shop.partition(":")
        url = self._page(shop) or self._engine.settings.executors.browser.sites.get(platform, "")
        try:
            node = assembly.node_of(self._engine.settings)
            return self._sessions.login(shop, lambda: self._browse(platform, shop_id, url, self._stop), node=node)
        finally:
            with self._changed:
                self._open.discard(shop)
                self._changed.notify_all()

    def close(self) -> None:
        """End those that are open; their shops are not logged in unless they were seen to be."""
        self._stop.set()
        with self._changed:
            self._changed.wait_for(lambda: not self._open, CLOSE_S)

    def _browser(self, platform: str, shop_id: str, url: str, stop: threading.Event) -> bool:
        # read when it is needed: the window opens sooner
        from services import workforce

        settings = self._engine.settings
        if url:  # the browser reaches no private host but those of the sites
            browser = replace(settings.executors.browser, sites={**settings.executors.browser.sites, platform: url})
            settings = replace(settings, executors=replace(settings.executors, browser=browser))
        window = workforce.login_window(settings)
        if window is None:
            said = _("There is no browser here: install {part} and Chromium, or log in where the shop's worker runs.")
            raise OperatorError(said.format(part="fleetdeck[browser]"))
        return workforce.browse(window, platform, shop_id, url, told=_unheard, stop=stop)


def _unheard(_url: str, _logged_in: bool) -> None:
    """The person sees the pages."""
