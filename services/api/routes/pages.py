"""Pages: the status of the fleet for a phone, made of files of this program alone; they hold nothing of the fleet."""

from __future__ import annotations

import functools
import html
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from services import i18n
from services.api.callers import Callers
from services.api.language import chosen
from services.api.problems import Problem
from services.i18n import _

#: beside the prefix: what people type
router = APIRouter(include_in_schema=False)
WEB = Path(__file__).resolve().parents[3] / "resources" / "web"
KINDS = {".css": "text/css", ".js": "text/javascript"}
#: a page may load what this server has, and nothing from elsewhere; nobody may frame it
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
Language = Annotated[str, Query(max_length=20)]
Accepted = Annotated[str, Header(max_length=500)]


@router.get("/")
def status(request: Request, lang: Language = "", accept_language: Accepted = "") -> Response:
    return _page(request, "status.js", lang or accept_language, "./")


@router.get("/docs")
def docs(request: Request, lang: Language = "", accept_language: Accepted = "") -> Response:
    return _page(request, "reference.js", lang or accept_language, "docs")


@router.get("/web/{name}")
def file(request: Request, name: str) -> Response:
    _passing(request)
    if Path(name).suffix not in KINDS or name not in _files():
        raise Problem(status=404, detail="there is no such file")
    return Response(_files()[name], media_type=KINDS[Path(name).suffix], headers={"cache-control": "no-cache"})


def _page(request: Request, script: str, language: str, here: str) -> Response:
    _passing(request)
    with i18n.speaking(chosen(language)):
        text = _filled(script, here)
    return Response(text, media_type="text/html", headers={"content-security-policy": POLICY})


def _passing(request: Request) -> None:
    """Anybody may have a page, but not without end."""
    callers: Callers = request.app.state.callers
    callers.passing(request)


def _filled(script: str, here: str) -> str:
    code = i18n.language()
    other = next(one for one in i18n.LANGUAGES if one != code)
    places = {
        "lang": code.replace("_", "-"),
        "other_code": other.replace("_", "-"),
        "other_name": i18n.LANGUAGES[other],
        "title": "Fleetdeck",
        "script": script,
        "here": here,
        "loading": _("Loading"),
        "ask_token": _("Token"),
        "token_from": _("An admin makes one with: fleetdeck token create NAME --role viewer"),
        "show": _("Show the fleet"),
        "forget": _("Forget the token"),
        "no_script": _("This page needs JavaScript."),
    }
    page = (WEB / "page.html").read_text("utf-8")
    for name, text in places.items():
        page = page.replace(f"{{{name}}}", html.escape(text))
    return page.replace("{words}", _attributes(_words() | {"locale": places["lang"]}))


def _words() -> dict[str, str]:
    """What the scripts say."""
    return {
        "needs-person": _("Needs a person"),
        "nothing": _("Nothing needs a person."),
        "and-more": _("and {n} more"),
        "alerts": _("Alerts"),
        "promises": _("Promises"),
        "no-promises": _("Nothing is promised."),
        "stale": _("Not judged of late"),
        "since": _("Since {at}"),
        "wrong-token": _("This is no token, or one that was revoked or has ended."),
        "unavailable": _("The fleet does not answer now. What stands here is older."),
        "no-answer": _("The server does not answer. What stands here is older."),
        "too-many": _("Asked too often; this page waits a while."),
    }


def _attributes(words: Mapping[str, str]) -> str:
    return " ".join(f'data-{name}="{html.escape(text)}"' for name, text in words.items())


@functools.cache
def _files() -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in WEB.iterdir() if one.suffix in KINDS}
