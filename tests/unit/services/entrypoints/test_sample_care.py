"""The person at the screen of the sample's shops."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from services import assembly
from services.domain.change import CloseSession
from services.sample.care import Caretaker
from tests.integration.fleet_rig import settings_for
from tests.support.browser_lab import Lab


def test_what_a_person_has_closed_is_left_to_that_person(tmp_path: Path) -> None:
    engine = assembly.open_engine(settings_for("embedded", tmp_path))
    lab = Lab()
    lab.start()
    opened: list[str] = []
    try:
        engine.store.apply(
            [
                CloseSession(shop="pdd:asks", kind="captcha", by="", note=""),
                CloseSession(shop="pdd:closed", kind="login_expired", by="ann", note="new password"),
            ]
        )
        fleet = SimpleNamespace(url=lab.front.url)
        late = Caretaker(engine.store, fleet, opened.append, after_s=3600.0)  # type: ignore[arg-type]
        assert (late.look(), opened) == (0, [])
        now = Caretaker(engine.store, fleet, opened.append, after_s=0.0)  # type: ignore[arg-type]
        assert (now.look(), opened) == (1, ["pdd:asks"])
    finally:
        lab.stop()
        engine.close()
