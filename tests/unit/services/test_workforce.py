"""Workforce: settings reach the workers, and handlers are loaded by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from services import assembly, workforce
from services import settings as config
from services.engine.zone import fleet_zone, found_zone, set_fleet_zone
from tests.contract.waiting import eventually


def test_settings_reach_the_workers() -> None:
    settings = config.Settings(
        strict_shops=True,
        lease=config.LeaseSettings(seconds=7),
        worker=config.WorkerSettings(slots=3, lanes=("low",), strict_types=True, name="w1", grace_seconds=4),
    )
    options = workforce.worker_options(settings, kind="console")
    assert (options.slots, options.lanes, options.name, options.kind) == (3, ("low",), "w1", "console")
    assert (options.lease_s, options.grace_s) == (7, 4)
    assert (options.strict_types, options.strict_shops) == (True, True)


def test_flows_run_without_any_handler(tmp_path: Path) -> None:
    engine = assembly.open_engine(config.Settings(home=str(tmp_path)))
    try:
        assert {"rpa", "http"} <= set(workforce.worker_parts(engine).executors)
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("own", "set_by_a_person", "then"),
    [
        ("Asia/Shanghai", "", "Asia/Shanghai"),
        ("Asia/Shanghai", "Europe/Berlin", "Europe/Berlin"),
        ("Etc/UTC", "", ""),  # a server: the first person who plans something says it
    ],
)
def test_a_fleet_without_a_time_zone_gets_that_of_the_machine_that_leads_it(
    own: str, set_by_a_person: str, then: str, tmp_path: Path
) -> None:
    engine = assembly.open_engine(config.Settings(home=str(tmp_path), time_zone=own))
    if set_by_a_person:
        set_fleet_zone(engine.store, set_by_a_person)
    steward = workforce.steward(engine)
    try:
        steward.start()
        eventually(lambda: steward.leader.leading and fleet_zone(engine.store) == then)
        page = assembly.queries(engine).handover.page(0)
        assert page.title.endswith(f"({then or 'UTC'})"), "nobody has to guess whose clock it is"
    finally:
        steward.close()
        engine.close()


@pytest.mark.parametrize("just_then", [False, True])
def test_a_time_zone_that_cannot_be_read_or_is_set_just_then_stays(
    just_then: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = assembly.open_engine(config.Settings(home=str(tmp_path)))
    store, kept = engine.store, '"Europe/Berlin"' if just_then else "{spoiled"
    try:
        if just_then:
            monkeypatch.setattr(store, "document", lambda kind, name: store.put_document(kind, name, kept))
        else:
            store.put_document("fleet", "time_zone", kept)
        found_zone(store, "Asia/Shanghai")
        assert store.documents("fleet")["time_zone"] == kept
    finally:
        engine.close()


def test_installed_packages_bring_handlers_unless_told_not_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = tmp_path / "site" / "shops_plugin-1.0.dist-info"
    meta.mkdir(parents=True)
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: shops-plugin\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[fleetdeck.handlers]\nshops = tests.integration.handlers\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for wanted in (True, False):
        settings = config.Settings(home=str(tmp_path), worker=config.WorkerSettings(installed_handlers=wanted))
        engine = assembly.open_engine(settings)
        try:
            assert ("python" in workforce.worker_parts(engine).executors) == wanted
        finally:
            engine.close()


def test_handlers_are_loaded_by_name(tmp_path: Path) -> None:
    worker = config.WorkerSettings(handlers=("tests.integration.handlers",))
    engine = assembly.open_engine(config.Settings(home=str(tmp_path), worker=worker))
    try:
        parts = workforce.worker_parts(engine)
        assert {"rpa", "http", "python"} <= set(parts.executors)
        assert "work" in parts.handlers
    finally:
        engine.close()
