"""How each act of a person is taken back: one table that a test walks over.

An act is named as the audit names it. *Held* waits a few seconds in which nothing has happened yet; *reverse* happens
at once and its Undo sends another act; *asked* shows what it will do before, for nothing brings it back; *again* is
undone by doing it once more, from where it was done.
"""

from __future__ import annotations

import msgspec

HELD, REVERSE, ASKED, AGAIN = "held", "reverse", "asked", "again"
KINDS = (HELD, REVERSE, ASKED, AGAIN)


class TakeBack(msgspec.Struct, frozen=True):
    """``by``: the act that reverses it; ``many``: it is also done to many things at once."""

    kind: str
    why: str
    by: str = ""
    many: bool = False


TABLE: dict[str, TakeBack] = {
    "task.create": TakeBack(REVERSE, "its Undo cancels what was created", "task.cancel", many=True),
    "task.cancel": TakeBack(
        HELD, "held, what runs is asked for before; what waited is created again", "task.create_again", many=True
    ),
    "task.create_again": TakeBack(REVERSE, "what was created is cancelled", "task.cancel", many=True),
    "task.retry": TakeBack(HELD, "a task that has begun cannot be unbegun", many=True),
    "task.run_now": TakeBack(HELD, "a task that has begun cannot be unbegun", many=True),
    "task.try": TakeBack(
        REVERSE, "it asks why before; its Undo takes it back while nothing has begun", "task.try_back"
    ),
    "task.try_back": TakeBack(AGAIN, "it is let through again, with a reason"),
    "task.prioritize": TakeBack(REVERSE, "its Undo gives the priorities of before", "task.prioritize", many=True),
    "task.resolve": TakeBack(HELD, "who waits for a decided task may start at once", many=True),
    "task.import": TakeBack(ASKED, "records come in as they are, counted before"),
    "dead.republish": TakeBack(HELD, "a new task may begin at once", many=True),
    "dead.archived": TakeBack(REVERSE, "its Undo gives the state of before", "dead.open", many=True),
    "dead.ignored": TakeBack(REVERSE, "its Undo gives the state of before", "dead.open", many=True),
    "dead.open": TakeBack(REVERSE, "its Undo gives the state of before", "dead.archived", many=True),
    "dead.note": TakeBack(ASKED, "a note is evidence and stays"),
    "dead.abort_run": TakeBack(AGAIN, "its letters are open and can be chosen again"),
    "cause.ignore": TakeBack(REVERSE, "its Undo lifts it", "cause.lift", many=True),
    "cause.lift": TakeBack(REVERSE, "it can be ignored again", "cause.ignore", many=True),
    "cause.know": TakeBack(REVERSE, "what it parked goes on once it is forgotten", "cause.forget"),
    "cause.forget": TakeBack(AGAIN, "it can be decided again"),
    "cause.merge": TakeBack(REVERSE, "each can be split off again", "cause.split"),
    "cause.split": TakeBack(REVERSE, "what was split off joins again, what was merged merges", "cause.join"),
    "cause.join": TakeBack(AGAIN, "it can be split off again"),
    "cause.describe": TakeBack(AGAIN, "name and note are written over"),
    "pause": TakeBack(REVERSE, "its Undo resumes", "resume", many=True),
    "resume": TakeBack(REVERSE, "its Undo pauses", "pause", many=True),
    "quiet.set": TakeBack(REVERSE, "its Undo removes them, or sets those of before", "quiet.remove"),
    "quiet.remove": TakeBack(REVERSE, "its Undo sets them again", "quiet.set"),
    "limit": TakeBack(AGAIN, "the limit of before is typed again"),
    "shop.concurrency": TakeBack(AGAIN, "the limit of before is typed again"),
    "shop.dedicate": TakeBack(REVERSE, "its Undo takes the queue away", "shop.undedicate"),
    "shop.undedicate": TakeBack(REVERSE, "its Undo gives the queue back", "shop.dedicate"),
    "shop.import": TakeBack(AGAIN, "the document of before is imported"),
    "shop.move": TakeBack(AGAIN, "it is moved back"),
    "breaker.close": TakeBack(ASKED, "it opens by itself when attempts fail again"),
    "breaker.rule": TakeBack(REVERSE, "its Undo sets the rule of before", "breaker.rule"),
    "session.open": TakeBack(REVERSE, "it can be closed again", "session.close"),
    "session.login": TakeBack(REVERSE, "it can be closed again", "session.close"),
    "session.close": TakeBack(REVERSE, "it can be opened again", "session.open"),
    "schedule.add": TakeBack(AGAIN, "it is disabled or removed"),
    "schedule.change": TakeBack(AGAIN, "what was changed is changed back"),
    "schedule.enable": TakeBack(REVERSE, "its Undo disables it", "schedule.disable", many=True),
    "schedule.disable": TakeBack(REVERSE, "its Undo enables it", "schedule.enable", many=True),
    "schedule.remove": TakeBack(ASKED, "its name is shown and asked for"),
    "schedule.run": TakeBack(ASKED, "it says before how many tasks it makes"),
    "schedule.backfill": TakeBack(ASKED, "it shows before which runs of which shops it makes up for"),
    "schedule.skip": TakeBack(AGAIN, "the next run is run by hand"),
    "batch.cancel": TakeBack(ASKED, "it says before how many wait and run"),
    "batch.retry": TakeBack(ASKED, "it says before how many have failed"),
    "batch.raise": TakeBack(REVERSE, "its Undo gives the priorities of before", "task.prioritize"),
    "queue.purge": TakeBack(
        ASKED, "it says before how many wait, and its name is asked for; they are created again", "task.create_again"
    ),
    "type.introduce": TakeBack(AGAIN, "a document of the type is imported"),
    "type.import": TakeBack(AGAIN, "the document of before is imported"),
    "fleet.time_zone": TakeBack(AGAIN, "the zone of before is set"),
    "settings.change": TakeBack(AGAIN, "what it was before stands in the audit and is set again"),
    "role.set": TakeBack(AGAIN, "the role of before is given"),
    "role.remove": TakeBack(AGAIN, "the role of before is given"),
    "role.default": TakeBack(AGAIN, "the default of before is set"),
    "token.create": TakeBack(REVERSE, "it can be revoked before anybody uses it", "token.revoke"),
    "token.revoke": TakeBack(ASKED, "its programs are refused at once; another one is made"),
    "promise.set": TakeBack(AGAIN, "what it was before stands in the audit and is promised again"),
    "promise.enable": TakeBack(REVERSE, "it can be disabled again", "promise.disable"),
    "promise.disable": TakeBack(REVERSE, "it can be enabled again", "promise.enable"),
    "promise.remove": TakeBack(AGAIN, "what it was stands in the audit and is promised again"),
    "view.share": TakeBack(REVERSE, "it can be removed, or shared as it was before", "view.remove"),
    "view.remove": TakeBack(AGAIN, "what it was stands in the audit and is shared again"),
    "alert.answer": TakeBack(REVERSE, "it is given back", "alert.unanswer"),
    "alert.unanswer": TakeBack(AGAIN, "somebody takes it again"),
    "alert.mute": TakeBack(REVERSE, "people are told again", "alert.unmute"),
    "alert.unmute": TakeBack(AGAIN, "it is muted again"),
    "alert.escalate": TakeBack(ASKED, "a message that was sent is read; it is asked for by a word of its own"),
    "alert.rule": TakeBack(REVERSE, "it is as the program came with it; one of people goes away", "alert.rule_reset"),
    "alert.rule_reset": TakeBack(AGAIN, "what it was before stands in the audit and is set again"),
    "alert.run": TakeBack(ASKED, "a command of the settings that a rule was told to run, once for an incident"),
    "alert.channel": TakeBack(REVERSE, "it can be removed, or set to what it was", "alert.channel_remove"),
    "alert.channel_remove": TakeBack(AGAIN, "what it was stands in the audit; its secret is still where it was"),
    "alert.channel_test": TakeBack(AGAIN, "a message that was sent is read; it says that it is a test"),
    "handover.set": TakeBack(REVERSE, "it can be removed, or set to what it was", "handover.remove"),
    "handover.remove": TakeBack(AGAIN, "what it was stands in the audit and is set again"),
    "handover.send": TakeBack(AGAIN, "a page that was sent is read; it says of when it is"),
    "audit.accept": TakeBack(ASKED, "what is accepted is listed before; an entry of the audit stays"),
    "reveal": TakeBack(ASKED, "what was seen cannot be unseen; it is asked for by a word of its own"),
    "repair": TakeBack(ASKED, "it shows before what it would set right"),
    "worker.drain": TakeBack(REVERSE, "it can be told to go on", "worker.resume"),
    "worker.resume": TakeBack(REVERSE, "it can be drained again", "worker.drain"),
    "worker.stop": TakeBack(ASKED, "what it interrupts is listed before; a stopped one is started on its machine"),
    "worker.slots": TakeBack(AGAIN, "the slots of before are set"),
    "worker.refuse": TakeBack(AGAIN, "what it refused before is set"),
    "worker.restart_browser": TakeBack(ASKED, "what works in it is told before; the next task starts a new one"),
    "worker.release_profile": TakeBack(ASKED, "what is ended is told before; whoever needs the profile takes it again"),
    "worker.open_window": TakeBack(REVERSE, "the window is closed", "worker.close_window"),
    "worker.reload_window": TakeBack(AGAIN, "the page is loaded once more"),
    "worker.close_window": TakeBack(REVERSE, "it is opened again, with its login", "worker.open_window"),
    "worker.log": TakeBack(ASKED, "what was seen cannot be unseen; it ends by itself"),
    "worker.forget": TakeBack(ASKED, "it comes back by itself when it lives"),
}


def of(act: str) -> TakeBack | None:
    """How this act is taken back, None for one that nobody has answered for."""
    return TABLE.get(act)
