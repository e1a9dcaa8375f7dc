"""Views that everybody sees, from elsewhere than a window: over REST, which types the verbs of the command line."""

from __future__ import annotations

import msgspec

from services import assembly
from tests.integration.api_rig import serving
from tests.integration.fleet_rig import Fleet
from tests.integration.test_api import problem

TITLE = "Refunds 今天"


def test_an_operator_shares_and_a_viewer_looks(fleet: Fleet) -> None:
    fleet.create()
    views = assembly.commands(fleet.engine).views
    with serving(fleet) as api, api.by("operator") as ask, api.by("viewer") as looks:
        made = ask.put(f"/api/v1/views/{TITLE}", json={"filter": "type:work"})
        assert made.status_code == 200, made.text
        assert made.json()["replaced"] is False
        assert [one["title"] for one in looks.get("/api/v1/views").json()["views"]] == [TITLE]
        problem(looks.put(f"/api/v1/views/{TITLE}", json={}), 403, "role.needed")
        problem(looks.delete(f"/api/v1/views/{TITLE}"), 403, "role.needed")
        problem(ask.put("/api/v1/views/other", json={"filter": "colour:red"}), 422)
        problem(ask.get("/api/v1/views/other"), 404)

        (known,) = views.known()
        views.share(msgspec.structs.replace(known, layout={"columns": ["shop"]}))
        changed = ask.put(f"/api/v1/views/{TITLE}", json={"filter": "shop:s1", "oldest_first": True})
        assert changed.json()["replaced"] is True
        assert ask.put(f"/api/v1/views/{known.key}/title", json={"title": "Dead"}).json()["before"] == TITLE
        shown = looks.get("/api/v1/views/Dead").json()
        assert (shown["tasks"], shown["order"], shown["version"]) == (1, "oldest first", 4)
        (known,) = views.known()
        assert known.layout == {"columns": ["shop"]}, "columns are the window's"
        assert ask.delete("/api/v1/views/Dead").json() == {"removed": "Dead", "was_shared": True}
    assert views.known() == []
