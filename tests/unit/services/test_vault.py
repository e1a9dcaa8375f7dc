"""Secrets are found in the environment of the worker, those of the shop before those of all shops."""

from __future__ import annotations

import keyring
import pytest

from services.domain.text import mask
from services.vault import Vault

ENVIRONMENT = {
    "FLEETDECK_SECRET__pdd__shop-1__password": "exact",
    "FLEETDECK_SECRET__PDD__SHOP_1__PASSWORD": "in capitals",
    "FLEETDECK_SECRET__TEMU__S2__PASSWORD": "capitals",
    "FLEETDECK_SECRET__PASSWORD": "all shops",
    "FLEETDECK_SECRET__EMPTY": "",
    "PASSWORD": "none of ours",
}


@pytest.mark.parametrize(
    ("platform", "shop", "name", "value"),
    [
        ("pdd", "shop-1", "password", "exact"),
        ("temu", "s2", "password", "capitals"),
        ("temu", "s3", "password", "all shops"),
        ("temu", "s3", "empty", None),
        ("temu", "s3", "other", None),
    ],
)
def test_the_shops_own_secret_goes_first(platform: str, shop: str, name: str, value: str | None) -> None:
    assert Vault(ENVIRONMENT, keyring=False).find(platform, shop, name) == value


def test_what_the_key_store_tells_is_dots_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("fleetdeck", "pdd:s7/password"): "of-this-machine-77"}
    monkeypatch.setattr(keyring, "get_password", lambda service, scope: kept.get((service, scope)))
    assert Vault({}).find("pdd", "s7", "password") == "of-this-machine-77"
    assert mask.known("it sent of-this-machine-77") == "it sent ••••"


def test_a_key_store_that_fails_in_its_own_way_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_service: str, _scope: str) -> str:
        raise OSError(1312, "A specified logon session does not exist")  # Windows, of a service

    monkeypatch.setattr(keyring, "get_password", refuse)
    assert Vault({}).find("pdd", "s7", "password") is None
