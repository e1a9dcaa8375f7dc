"""The watch over a fleet, turned by hand, with a webhook for those who are told."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace

from services import assembly
from services.domain.alerts import channel as channels
from services.domain.alerts import outbox
from services.domain.alerts import rule as rules
from services.domain.alerts.channel import Channel
from services.monitor.alerts.queries import AlertQueries, AlertsNow
from services.watch.alerts.keeper import AlertKeeper
from services.watch.alerts.look import Eyes
from services.watch.alerts.rules import DEFAULTS
from services.watch.alerts.sender import Sender
from services.workforce import RuleActs
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook

PATIENCE_S = 60.0


class Watch:
    """One process that watches; rules have no patience unless a test gives them some."""

    def __init__(
        self,
        fleet: Fleet,
        hook: Hook,
        *,
        holder: str = "w1",
        production: bool = False,
        engine: assembly.Engine | None = None,
    ) -> None:
        self.fleet, self.hook, self.engine = fleet, hook, engine or fleet.engine
        self.store = self.engine.store
        self.secrets: dict[str, str] = {"ops": hook.url}
        eyes = Eyes(
            self.store,
            self.engine.broker,
            self.engine.registry,
            self.engine.causes,
            self.engine.clock,
            production=production,
            alone=self.engine.settings.embedded,
        )
        self.sender = Sender(self.store, self.secrets.get, "here")
        acts = RuleActs(self.engine)
        self.keeper = AlertKeeper(self.store, eyes, self.sender, self.engine.clock, holder, act=acts)
        self.stop = threading.Event()

    def channel(self, name: str = "ops", **fields: object) -> None:
        self.store.put_document(channels.KIND, name, channels.DOCUMENT.dump(Channel(name=name, **fields)))  # type: ignore[arg-type]

    def only(self, *names: str, **fields: object) -> None:
        """These rules and no others, at once unless said otherwise."""
        for one in DEFAULTS:
            mine = {"for_s": 0, "calm_s": 0, **fields} if one.name in names else {"enabled": False}
            if "limits" in mine:
                mine["limits"] = {**one.limits, **mine["limits"]}  # type: ignore[dict-item]
            self.store.put_document(rules.KIND, one.name, rules.DOCUMENT.dump(replace(one, **mine)))

    def limits(self, name: str, **limits: float) -> None:
        """Other limits of a rule that is on."""
        one = rules.DOCUMENT.load(self.store.documents(rules.KIND)[name])
        self.store.put_document(rules.KIND, name, rules.DOCUMENT.dump(replace(one, limits={**one.limits, **limits})))

    def only_channels(self, name: str, channels: tuple[str, ...]) -> None:
        """Other people for a rule that is on."""
        one = rules.DOCUMENT.load(self.store.documents(rules.KIND)[name])
        self.store.put_document(rules.KIND, name, rules.DOCUMENT.dump(replace(one, channels=channels)))

    def noted(self) -> bool:
        """Whether all that was sent is known to be; what a channel took from one who is killed before is sent again."""
        letters = [outbox.DOCUMENT.load(body) for body in self.store.documents(outbox.KIND).values()]
        return bool(letters) and not any(one.waits for one in letters)

    def turn(self) -> AlertsNow:
        """One look, and all that is due is sent."""
        assert self.keeper.tick()
        self.keeper.send(self.stop)
        self.sender.wait(PATIENCE_S)
        return self.now()

    def now(self) -> AlertsNow:
        return AlertQueries(self.store, self.secrets.get, DEFAULTS).now()

    def until(self, holds: Callable[[AlertsNow], object], seconds: float = PATIENCE_S) -> AlertsNow:
        """Look again and again until something holds."""
        return eventually(lambda: now if holds(now := self.turn()) else None, seconds) or self.now()

    def raised(self) -> AlertsNow:
        """Until somebody was told."""
        return self.until(lambda _now: self.hook.told)

    def resolved(self) -> AlertsNow:
        """Until nothing is open."""
        return self.until(lambda now: not now.incidents)

    def commands(self) -> assembly.Commands:
        return assembly.commands(self.engine)
