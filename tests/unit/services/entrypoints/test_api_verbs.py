"""Every verb of the command line has a route, with its options, or a reason why it has none; and every route a verb."""

from __future__ import annotations

import functools
from typing import Any

from fastapi import FastAPI

from services.api.routes import NOUNS
from tests.support import grammar

#: verb -> the route that does it
ROUTES = {
    "alert answer": "POST /alerts/{incident}/answer",
    "alert channel list": "GET /alerts/channels",
    "alert channel remove": "DELETE /alerts/channels/{name}",
    "alert channel set": "PUT /alerts/channels/{name}",
    "alert channel test": "POST /alerts/channels/{name}/test",
    "alert escalate": "POST /alerts/{incident}/escalate",
    "alert history": "GET /alerts/history",
    "alert list": "GET /alerts",
    "alert mute": "POST /alerts/{incident}/mute",
    "alert rule list": "GET /alerts/rules",
    "alert rule reset": "POST /alerts/rules/{name}/reset",
    "alert rule set": "PUT /alerts/rules/{name}",
    "alert rule show": "GET /alerts/rules/{name}",
    "alert show": "GET /alerts/{incident}",
    "alert unanswer": "POST /alerts/{incident}/unanswer",
    "alert unmute": "POST /alerts/{incident}/unmute",
    "at": "GET /at",
    "audit accept": "POST /audit/accept",
    "audit list": "GET /audit",
    "audit verify": "GET /audit/verify",
    "batch cancel": "POST /batches/{name}/cancel",
    "batch list": "GET /batches",
    "batch raise": "POST /batches/{name}/raise",
    "batch retry": "POST /batches/{name}/retry",
    "batch show": "GET /batches/{name}",
    "cause forget": "DELETE /causes/{fingerprint}/rule",
    "cause ignore": "POST /causes/{fingerprint}/ignore",
    "cause know": "PUT /causes/{fingerprint}",
    "cause lift": "POST /causes/{fingerprint}/lift",
    "cause merge": "POST /causes/{fingerprint}/merge",
    "cause name": "PUT /causes/{fingerprint}/name",
    "cause join": "POST /causes/{fingerprint}/join",
    "cause split": "POST /causes/{fingerprint}/split",
    "causes": "GET /causes",
    "dead archive": "POST /dead/archive",
    "dead ignore": "POST /dead/ignore",
    "dead list": "GET /dead",
    "dead note": "POST /dead/note",
    "dead republish": "POST /dead/republish",
    "dead restore": "POST /dead/restore",
    "dead runs": "GET /dead/runs",
    "dead show": "GET /dead/{task_id}",
    "doctor": "GET /doctor",
    "drain": "GET /drain",
    "drift": "GET /drift",
    "handover plan": "GET /handover/plan",
    "handover remove": "DELETE /handover/plan",
    "handover send": "POST /handover/send",
    "handover set": "PUT /handover/plan",
    "handover show": "GET /handover",
    "promise disable": "POST /promises/{name}/disable",
    "promise enable": "POST /promises/{name}/enable",
    "promise list": "GET /promises",
    "promise remove": "DELETE /promises/{name}",
    "promise set": "PUT /promises/{name}",
    "promise show": "GET /promises/{name}",
    "queue held": "GET /queues/held",
    "queue limit": "PUT /queues/{scope}/limits",
    "queue list": "GET /queues",
    "queue peek": "GET /queues/{name}/tasks",
    "queue purge": "POST /queues/{name}/purge",
    "queue pause": "POST /queues/{scope}/pause",
    "queue resume": "POST /queues/{scope}/resume",
    "quiet list": "GET /quiet-hours",
    "quiet remove": "DELETE /quiet-hours/{name}",
    "quiet set": "PUT /quiet-hours/{name}",
    "quiet show": "GET /quiet-hours/{name}",
    "role list": "GET /roles",
    "schedule add": "PUT /schedules/{name}",
    "schedule backfill": "POST /schedules/{name}/backfill",
    "schedule disable": "POST /schedules/{name}/disable",
    "schedule enable": "POST /schedules/{name}/enable",
    "schedule list": "GET /schedules",
    "schedule remove": "DELETE /schedules/{name}",
    "schedule run": "POST /schedules/{name}/run",
    "schedule show": "GET /schedules/{name}",
    "schedule skip": "POST /schedules/{name}/skip",
    "schedule zone": "PUT /time-zone",
    "shop breaker": "PUT /breakers/rule",
    "shop dedicate": "POST /shops/{shop}/dedicate",
    "shop import": "POST /shops",
    "shop limit": "PUT /shops/{shop}/limits",
    "shop list": "GET /shops",
    "shop move": "PUT /shops/{shop}/home",
    "shop pause": "POST /shops/{shop}/pause",
    "shop resume": "POST /shops/{shop}/resume",
    "shop session close": "POST /shops/{shop}/session/close",
    "shop session list": "GET /sessions",
    "shop session open": "POST /shops/{shop}/session/open",
    "shop show": "GET /shops/{shop}",
    "shop undedicate": "POST /shops/{shop}/undedicate",
    "stats": "GET /stats",
    "task artifacts": "GET /tasks/{task_id}/artifacts",
    "task cancel": "POST /tasks/cancel",
    "task create": "POST /tasks",
    "task create-again": "POST /tasks/create-again",
    "task duplicates": "GET /tasks/duplicates",
    "task list": "GET /tasks",
    "task log": "GET /tasks/{task_id}/log",
    "task prioritize": "POST /tasks/prioritize",
    "task resolve": "POST /tasks/resolve",
    "task retry": "POST /tasks/retry",
    "task run-now": "POST /tasks/run-now",
    "task show": "GET /tasks/{task_id}",
    "task try": "POST /tasks/try",
    "type import": "POST /types",
    "type list": "GET /types",
    "type show": "GET /types/{name}",
    "view list": "GET /views",
    "view remove": "DELETE /views/{view}",
    "view rename": "PUT /views/{view}/title",
    "view share": "PUT /views/{title}",
    "view show": "GET /views/{view}",
    "work": "GET /work",
    "worker browser": "POST /workers/{worker}/browsers/{shop}",
    "worker drain": "POST /workers/{worker}/drain",
    "worker forget": "DELETE /workers/{worker}",
    "worker list": "GET /workers",
    "worker log": "POST /workers/{worker}/log",
    "worker nodes": "GET /workers/nodes",
    "worker refuse": "PUT /workers/{worker}/refuses",
    "worker resume": "POST /workers/{worker}/resume",
    "worker show": "GET /workers/{worker}",
    "worker slots": "PUT /workers/{worker}/slots",
    "worker stop": "POST /workers/{worker}/stop",
    "worker window": "GET /workers/windows/{shop}",
}
#: routes that do a part of a verb, or what the window alone does
MORE_ROUTES = {
    "GET /breakers": "shop breaker without options",
    "GET /causes/{fingerprint}": "causes FINGERPRINT",
    "GET /time-zone": "schedule zone without a zone",
    "POST /alerts/rules/{name}/disable": "alert rule set --off",
    "POST /alerts/rules/{name}/enable": "alert rule set --on",
    "POST /shops/{shop}/breaker/close": "shop breaker --close",
    "GET /events": "what changes",
    "GET /openapi.json": "the description",
    "GET /status": "the page for a phone",
}
#: verbs that are of the machine where they are typed
NO_ROUTE = {
    "api": "the server itself",
    "completion": "of a shell",
    "demo": "a fleet of its own on this machine",
    "export": "a file of this machine",
    "import": "a file of this machine",
    "log": "files of this machine",
    "repair": "stands at the machine and reads files there",
    "role default": "who may do what is decided at a desk: a token that leaked raises nobody",
    "role remove": "as role default",
    "role set": "as role default",
    "shop login": "opens a browser on this machine",
    "token create": "as role default",
    "token list": "as role default",
    "token revoke": "as role default",
    "type export": "a file of this machine; types are told by GET /types",
}
#: of every verb; ``yes`` stands for an answer, and one that names what it does is one
COMMON = {
    "h",
    "help",
    "json",
    "profile",
    "home",
    "verbose",
    "no_color",
    "broker",
    "redis",
    "reveal",
    "read_only",
    "yes",
}
#: words of the command line and what they are called in a request
CALLED = {
    "fingerprints": "fingerprint",
    "as": "decision",
    "channel": "channels",
    "file": "shops",
    "files": "types",
    "from": "start",
    "group": "groups",
    "id": "task_id",
    "limit": "limits",
    "names": "name",
    "off": "enabled",
    "on": "enabled",
    "platform": "platforms",
    "shop": "shops",
    "shops": "shop",
    "workers": "worker",
    "count": "slots",
    "none": "types",
}
#: options that no request has, with the reason
LEFT_OUT = {
    "dead republish --rate": "a run at a pace outlasts a request",
    "dead republish --resume": "likewise",
    "doctor --deep": "reads every record, for minutes",
    "queue purge --export": "a file of this machine",
    "queue purge --no-export": "of --export",
    "shop breaker --close": "a route of its own",
    "shop breaker --note": "of --close",
    "shop breaker shops": "of --close",
    "shop import --skip-bad": "a program sends what is good",
    "stats --batch": "GET /batches/{name} tells it",
    "task artifacts --save": "a folder of this machine",
    "task create --allow-unknown": "of --file",
    "task create --dry-run": "of --file",
    "task create --encoding": "of --file",
    "task create --map": "of --file",
    "task create --sheet": "of --file",
    "task create --skip-bad": "of --file",
    "task log --follow": "ask again from `next`",
    "causes fingerprint": "a route of its own",
    "worker log --follow": "ask again",
    "worker window --save": "the picture stands in the answer",
    "worker drain --all": "a request for each",
    "worker resume --all": "a request for each",
    "worker stop --all": "a request for each",
}


VERBS = {" ".join(words): parser for words, parser in grammar.leaves()}


@functools.cache
def routes() -> dict[str, set[str]]:
    """``GET /tasks`` -> everything that such a request may name."""
    app = FastAPI()
    for noun in NOUNS:
        app.include_router(noun.router)
    document = app.openapi()
    found = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            words = {parameter["name"] for parameter in one.get("parameters", ())}
            if "requestBody" in one:
                words |= fields(document, one["requestBody"]["content"]["application/json"]["schema"])
            found[f"{method.upper()} {path}"] = words
    return found


def fields(document: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    if "$ref" in schema:
        return fields(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return set().union(*(fields(document, one) for one in schema["anyOf"]))
    return set(schema.get("properties", {}))


def test_every_verb_has_a_route_or_a_reason_and_every_route_a_verb() -> None:
    known = VERBS.keys()
    assert known - ROUTES.keys() - NO_ROUTE.keys() == set(), "what REST cannot do"
    assert (ROUTES.keys() | NO_ROUTE.keys()) - known == set()
    assert routes().keys() == set(ROUTES.values()) | MORE_ROUTES.keys()


def test_a_route_takes_what_its_verb_takes() -> None:
    missing = set()
    for verb, route in ROUTES.items():
        for argument in grammar.arguments(VERBS[verb]):
            called = argument.option_strings[0] if argument.option_strings else argument.dest
            word = called.lstrip("-").replace("-", "_")
            if word not in COMMON and not {word, f"{word}_s", CALLED.get(word, word)} & routes()[route]:
                missing.add(f"{verb} {called}")
    assert missing == LEFT_OUT.keys()
