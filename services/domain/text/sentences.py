"""English texts of the codes that the domain hands out, for ``services/messages.py`` to render."""

from __future__ import annotations


class Counted(str):
    """A sentence about so many things as its parameter ``by`` says; ``one`` is the same about a single one."""

    __slots__ = ("by", "one")
    one: str
    by: str


def N_(text: str) -> str:
    """Mark a text for extraction."""
    return text


def NP_(_context: str, text: str) -> str:
    """Mark a text for extraction that means this here and may mean something else elsewhere."""
    return text


def NN_(one: str, many: str, *, by: str = "n") -> Counted:
    """Mark a text for extraction that is another for one thing than for many; its message has a number ``by``."""
    text = Counted(many)
    text.one, text.by = one, by
    return text


FILTER: dict[str, str] = {
    "filter.too_long": N_("The filter is longer than {limit} characters."),
    "filter.too_many": N_("The filter has more than {limit} parts."),
    "filter.unknown_field": N_(
        'There is no field {field}; did you mean {remedy}? To search for a text, quote it: "{text}".'
    ),
    "filter.unknown_word": N_("{value} is no {field}; did you mean {remedy}?"),
    "filter.open_quote": N_('The quotation mark is not closed; add a ".'),
    "filter.signs": N_(
        'A search for {text} alone finds nearly everything. To search for it all the same, quote it: "{text}".'
    ),
    "filter.joined": N_(
        "Conditions stand side by side, and all of them must hold. One of several values is type:a,b, and what must "
        "not be has a - in front. To search for a text, quote it: {text}."
    ),
    "filter.empty": N_("A word is missing here."),
    "filter.no_value": N_("{field} needs a value, without a space before it."),
    "filter.one_value": N_("{field} takes one value here, not a list."),
    "filter.not_number": N_("{value} is no number for {field}; did you mean {remedy}?"),
    "filter.not_hex": N_("{value} is no fingerprint; use up to 16 of 0-9 a-f."),
    "filter.not_duration": N_("{value} is no duration; write age>90m, age>1h or age<2d."),
    "filter.not_time": N_("{value} is no time for {field}; did you mean {remedy}?"),
    "filter.negated_day": N_("A day cannot be excluded; use {field}< or {field}>."),
    "filter.operator": N_("{field} does not know {op}; use one of {allowed}"),
    "filter.secret": N_("What stands under {field} is a secret; secrets are not searched."),
    "filter.star": N_("The * of {value} may stand at the end only."),
}

GATES: dict[str, str] = {
    "gate.due": N_("Its time has come."),
    "gate.overdue": N_("Was to start {span} ago; it is sent as soon as a leader runs."),
    "gate.scheduled": N_("Starts in {span}, as planned."),
    "gate.retry_delay": N_("Attempt {attempt} failed; the next one starts in {span}."),
    "gate.retry_last": N_(
        "Attempt {attempt} failed; the last one starts in {span}. If that fails too, the task is a dead letter."
    ),
    "gate.no_dependency": N_("It waits for no other task."),
    "gate.dependencies_met": N_("What it depends on has succeeded ({count})."),
    "gate.dependency": N_("Waits until {id} has succeeded; that one is {status}."),
    "gate.dependencies": N_("Waits for {open} of the {count} tasks it depends on, first {id}, which is {status}."),
    "gate.dependency_dead": N_("It depends on {id}, which is dead: republish that one, or cancel this task."),
    "gate.dependency_cancelled": N_(
        "It depends on {id}, which was cancelled and will never succeed: cancel this task. If that one was created"
        " again, create this one again, too: then it waits for the new one."
    ),
    "gate.dependency_gone": N_("It depends on {id}, which has no record any more: cancel this task."),
    "gate.no_session": N_("The shop asks for no login and no captcha."),
    "gate.session_login": N_(
        "The shop must be logged in again; then its tasks go on. Its login page was met {span} ago ({holder} on"
        " {worker})."
    ),
    "gate.session_captcha": N_(
        "The shop shows a captcha: somebody must log in there; then its tasks go on. It was met {span} ago ({holder} on"
        " {worker})."
    ),
    "gate.session_by": N_(
        "{by} said {span} ago that somebody must log the shop in first: {reason}. Then its tasks go on."
    ),
    "gate.session_unsaid": N_("{by} said {span} ago that somebody must log the shop in first. Then its tasks go on."),
    "gate.shop_free": N_("{running} of {concurrency} tasks of the shop are running."),
    "gate.passed": N_("{by} lets the next attempt through: {reason}"),
    "gate.no_breaker": N_("The last attempts of the shop did not fail too often."),
    "gate.breaker": N_(
        "Too many attempts of the shop failed ({failed} of the last {of}, last {kind}); one task tries again in {span}."
    ),
    "gate.breaker_tried": N_(
        "Too many attempts of the shop failed ({failed} of the last {of}); {holder} tries now, the others follow if it"
        " succeeds."
    ),
    "gate.breaker_try": N_(
        "Too many attempts of the shop failed ({failed} of the last {of}); one task may try now, {ahead} go first."
    ),
    "gate.shop_busy": N_(
        "The shop is busy: {work} runs for {span} ({holder} on {worker}, {running} of {concurrency} running)."
    ),
    "gate.shop_busy_line": N_(
        "The shop is busy: {work} runs for {span} ({holder} on {worker}, {running} of {concurrency} running); {ahead}"
        " go first."
    ),
    "gate.shop_busy_done": N_(
        "The shop is busy: {work} is at {done}, running for {span} ({holder} on {worker}, {running} of"
        " {concurrency} running)."
    ),
    "gate.shop_busy_done_line": N_(
        "The shop is busy: {work} is at {done}, running for {span} ({holder} on {worker}, {running} of"
        " {concurrency} running); {ahead} go first."
    ),
    "gate.shop_twin": N_("The shop is busy with that same work, and free after it."),
    "gate.shop_hung": N_(
        "The shop is busy: {work} seems to hang. It has run for {span}, usually {usual}; stop it to let this one start"
        " ({holder} on {worker})."
    ),
    "gate.shop_hung_line": N_(
        "The shop is busy: {work} seems to hang. It has run for {span}, usually {usual}; stop it to let others start"
        " ({holder} on {worker}); {ahead} go first."
    ),
    "gate.shop_held": N_(
        "The shop is busy: {work} runs for {span} of usually {usual} ({holder} on {worker}, {running} of"
        " {concurrency} running)."
    ),
    "gate.shop_held_line": N_(
        "The shop is busy: {work} runs for {span} of usually {usual} ({holder} on {worker}, {running} of"
        " {concurrency} running); {ahead} go first."
    ),
    "gate.shop_held_done": N_(
        "The shop is busy: {work} is at {done}, running for {span}, usually {usual} ({holder} on {worker},"
        " {running} of {concurrency} running)."
    ),
    "gate.shop_held_done_line": N_(
        "The shop is busy: {work} is at {done}, running for {span}, usually {usual} ({holder} on {worker},"
        " {running} of {concurrency} running); {ahead} go first."
    ),
    "gate.shop_held_long": N_(
        "The shop is busy: {work} runs for {span} already, usually {usual} ({holder} on {worker}, {running} of"
        " {concurrency} running)."
    ),
    "gate.shop_held_long_line": N_(
        "The shop is busy: {work} runs for {span} already, usually {usual} ({holder} on {worker}, {running} of"
        " {concurrency} running); {ahead} go first."
    ),
    "gate.shop_queue": N_(
        "{count} tasks of the shop wait for a worker and go first, {first} for {span} now; then {ahead} parked ones."
    ),
    "gate.no_quota": N_("Neither its platform nor its type is limited."),
    "gate.quota": N_("Its platform and its type are within their limits."),
    "gate.quota_running": N_(
        "{scope} is at its limit: {used} of {limit} running, first {holder} on {worker} for {span}; {ahead} go first."
    ),
    "gate.quota_promised": N_("{scope} is at its limit: {used} of {limit} released to run; {ahead} go first."),
    "gate.quota_starts": N_(
        "{scope} is at its limit: {used} of {limit} started within a minute, the next may in {span}; {ahead} go first."
    ),
    "gate.estimate_now": N_("It starts at any moment: nothing is before it and a slot is free."),
    "gate.estimate_instant": N_("It starts in {span}."),
    "gate.estimate_measured": N_("It starts in about {spread}, by how long such tasks took lately."),
    "gate.estimate_progress": N_("It starts in about {spread}, by how far the running one is."),
    "gate.estimate_declared": N_(
        "It starts in about {spread}. No such task has run yet; this is by what its type says."
    ),
    "gate.no_twin": N_("No task with the same work goes first."),
    "gate.twin": N_("The same task is active already and goes first."),
    "gate.twin_running": N_(
        "The same work runs already, for {span} now; this one starts after it ({holder} on {worker})."
    ),
    "gate.twin_running_done": N_(
        "The same work runs already and is at {done}, for {span} now; this one starts after it ({holder} on {worker})."
    ),
    "gate.twin_hung": N_(
        "The same work runs already and seems to hang. It has run for {span}, usually {usual}; stop it to let this one"
        " start ({holder} on {worker})."
    ),
    "gate.twin_held": N_("The same work is held as {twin}; somebody must decide about it first."),
    "gate.twin_first": N_("The same work waits as {twin} and goes first."),
    "gate.home": N_(
        "The browser profile of its shop lives on the machine {node}; workers there that can run it: {workers}."
    ),
    "gate.home_none": N_("Its shop has no home node yet; the one that starts this task becomes it."),
    "gate.home_fetched": N_(
        "It waits for {node}, where the browser profile of its shop lives; a worker there fetches it as soon as it has"
        " a free slot."
    ),
    "gate.home_silent": N_(
        "It waits for {node}, where the browser profile of its shop lives, silent for {span}; start a worker there, or"
        " move the shop."
    ),
    "gate.home_gone": N_(
        "It waits for {node}, where the browser profile of its shop lives, and no worker runs there; start one, or move"
        " the shop."
    ),
    "gate.home_rests": N_(
        "It waits for {node}, where the browser profile of its shop lives; no worker there takes {type} of the lane"
        " {lane} now."
    ),
    "gate.parked": N_("Parked at this gate; it starts as soon as the gate opens."),
    "gate.confirmed": N_("Its message is in the queue."),
    "gate.delayed_message": N_("Its message enters the queue when it is due."),
    "gate.unconfirmed": N_("The broker has not confirmed its message yet."),
    "gate.unsent_disk": N_(
        "Recorded and not sent: the broker is out of disk and takes no new messages. It is sent by itself then."
    ),
    "gate.unsent_memory": N_(
        "Recorded and not sent: the broker is out of memory and takes no new messages. It is sent by itself then."
    ),
    "gate.unsent_held": N_(
        "Recorded and not sent: the broker takes no new messages. It is sent by itself once it does."
    ),
    "gate.unsent_rejected": N_(
        "Recorded and not sent: the broker rejects what is sent to {queues}, as where a queue is full. It is sent by"
        " itself once it takes messages again."
    ),
    "gate.unsent_lost": N_("Recorded and not sent: the broker does not answer. It is sent once that is back."),
    "gate.broker": N_("The broker answers."),
    "gate.cut_off": N_("The broker does not answer: nothing is handed to a worker until it is back."),
    "gate.cut_off_for": N_(
        "The broker has not answered for {span}: nothing is handed to a worker until it is back; then it goes on by"
        " itself."
    ),
    "gate.parked_message": N_("It is sent as soon as nothing else holds it."),
    "gate.workers": N_("Workers of its lane that can run it: {workers}."),
    "gate.needs_handler": N_(
        "No worker of its lane can run {type}: it needs a Python handler of this name; workers seen: {workers}."
    ),
    "gate.needs_program": N_(
        "No worker of its lane can run {type}: it needs the program {need}; workers seen: {workers}."
    ),
    "gate.needs_setting": N_(
        "No worker of its lane can run {type}: {need} must stand in the config.toml of one; workers seen: {workers}."
    ),
    "gate.needs_executor": N_(
        "No worker of its lane can run {type}: it needs the executor {need}; workers seen: {workers}."
    ),
    "gate.needs_willing": N_(
        "Every worker of its lane that can run {type} was told to refuse it; workers seen: {workers}."
    ),
    "gate.fetched": N_("Another worker could not run it; one that can fetches it as soon as it has a free slot."),
    "gate.workers_cut_off": N_(
        "The broker has been out of reach for its workers ({workers}) for {span}; it goes on by itself when one of them"
        " reaches it."
    ),
    "gate.no_worker_at_all": N_("No worker is running; start one."),
    "gate.no_worker": N_("No running worker serves the lane {lane}; start one."),
    "gate.next": N_("It is next in its lane."),
    "gate.front": N_("It is next in its lane, and a slot is free."),
    "gate.front_full": NN_(
        "It is next in its lane; the only slot is busy.",
        "It is next in its lane; all {slots} slots are busy.",
        by="slots",
    ),
    "gate.opened": N_("No gate is closed any more; it is sent as slots become free."),
    "gate.behind_lanes": N_("{ahead} tasks of its lane and {urgent} of more urgent lanes go first."),
    "gate.in_lane": N_("Many tasks of its lane go first."),
    "gate.behind": NN_("{ahead} task of its lane goes first.", "{ahead} tasks of its lane go first.", by="ahead"),
    "gate.lane_unsent": N_("It takes its place in the lane when it is sent."),
    "gate.lane_later": N_("It takes its place in the lane when it is due."),
    "gate.lane_parked": N_("It takes its place in the lane once nothing else holds it."),
}

VERDICTS: dict[str, str] = {
    "verdict.never_started": N_("No work would be done twice: it never started."),
    "verdict.idempotent": N_("No work would be done twice: this type may run again."),
    "verdict.twin": N_("The same work is active already as {id}, which is {status}."),
    "verdict.stopped_before_work": N_(
        "No work would be done twice: every attempt ended before its work began ({kind})."
    ),
    "verdict.unreadable": N_("Check: the message was not a task; correct it before you create one from it."),
    "verdict.id_conflict": N_(
        "Check: another task has the id of this message; compare both, and give it an id of its own before you create a"
        " task from it."
    ),
    "verdict.outcome_unknown": N_("Check in the shop first: attempt {attempt} ended without an outcome ({kind})."),
    "verdict.failed_midway": N_(
        "Check in the shop first: attempt {attempt} failed and may have done part of its work."
    ),
    "verdict.work_had_begun": N_("It would repeat work: attempt {attempt} was at {done} when it ended."),
    "verdict.held_lost": N_(
        "If you choose “Run again”, the work would be done a second time: attempt {attempt} was at {done} when"
        " its worker was lost."
    ),
    "verdict.held_begun": N_(
        "If you choose “Run again”, the work would be done a second time: attempt {attempt} was at {done} when it"
        " ended without an answer."
    ),
    "verdict.done_elsewhere": N_("It would repeat work: another run of the same task reached its end."),
    "verdict.done_late": N_(
        "It would repeat work: {worker}, which was taken for lost, came back and said that attempt {attempt} had ended"
        " well."
    ),
    "verdict.republished": N_("It would repeat work: it was republished already as {successor}."),
    "verdict.overtaken": N_("It would repeat work: the same work succeeded later as {successor}."),
    "verdict.ran_after": N_("It would repeat work: the same work succeeded {span} ago as {id}, by {by}."),
    "verdict.unread": N_(
        "Check in the shop first: whether the same work was done cannot be read until `repair` sets its entry aside."
    ),
    "verdict.active": N_("It would repeat work: the task is {status} now."),
    "verdict.succeeded": N_("It would repeat work: the task succeeded."),
    "verdict.succeeded_idempotent": N_("It succeeded; running it again does no harm, and nothing new."),
}

WORTH: dict[str, str] = {
    "worth.unreadable": N_("Running it again cannot help: the message was not a task that can run."),
    "worth.id_conflict": N_("Running it again cannot help: another task has its id."),
    "worth.no_type": N_("It will fail again until its task type is defined."),
    "worth.refused": N_("Its type refuses the payload now ({field}); correct it first."),
    "worth.login": N_("The shop waits for a login; it would stop there again."),
    "worth.captcha": N_("The shop waits for its captcha; it would stop there again."),
    "worth.letter_again": N_("Republished {count}×, failed again each time."),
    "worth.letter_edited": N_(
        "Its message was changed and republished already ({count}×), and it failed again for the same reason."
    ),
    "worth.edited_again": N_(
        "{count} of {of} that were republished died of it again, {edited} of them with a changed message; nothing has"
        " passed since."
    ),
    "worth.failed_again": N_("{count} of {of} that were republished died of it again, and nothing has passed since."),
    "worth.edited_again_last": N_(
        "{count} of the last {of} that were republished died of it again, {edited} of them with a changed message;"
        " nothing has passed since."
    ),
    "worth.failed_again_last": N_(
        "{count} of the last {of} that were republished died of it again, and nothing has passed since."
    ),
    "worth.failing_last": N_(
        "{count} of the last {of} that were republished fail again so far, {passed} have succeeded; wait until they"
        " have ended."
    ),
    "worth.passed_last": N_("{count} of the last {of} that were republished have succeeded."),
    "worth.failing": N_(
        "{count} of {of} that were republished fail again so far, {passed} have succeeded; wait until they have ended."
    ),
    "worth.passed": N_("{count} of {of} that were republished have succeeded."),
    "worth.succeeded_since": N_("Tasks of this type have succeeded there since."),
    "worth.logged_in": N_("Somebody has logged in since."),
    "worth.login_unknown": N_("Nobody has been seen logging in since; try a few first."),
    "worth.type_known": N_("Its task type is defined now."),
    "worth.no_flow": N_(
        "Its task type was defined already, but what ran it has no flow for it: have the flow added there, or let those"
        " workers refuse the type; then try a few first."
    ),
    "worth.expired": N_(
        "It came too late and nothing was run; a new task has no deadline. Look whether its work is still wanted."
    ),
    "worth.type_changed": N_("Its task type was changed since; try a few first."),
    "worth.page": N_("The page has changed: a retry fails again until the flow is adapted. Tell who makes the flow."),
    "worth.flow_refused": N_(
        "It will fail again until the parameters are corrected: have them put right where the tasks are created, then"
        " republish; single ones can be edited here."
    ),
    "worth.secret": N_("It will fail again until the password is set on the worker."),
    "worth.program": N_("It will fail again until the worker has a program for its flows."),
    "worth.account": N_("It will fail again until the account is free; look into the shop."),
    "worth.unknown": N_("Nothing shows whether it would pass now; try a few first."),
    "worth.not_asked": N_("Whether it would pass now is still being looked into."),
    "worth.but_login": N_("{count} of {of} shops need a login first."),
    "worth.but_refused": N_("{count} of {of} payloads are refused by their type now."),
}

CAUSES: dict[str, str] = {
    "cause.timeout": N_("Timed out"),
    "cause.login_expired": N_("Seller login expired"),
    "cause.captcha": N_("Captcha"),
    "cause.risk_control": N_("Risk control"),
    "cause.element_not_found": N_("Page element missing"),
    "cause.element_not_found.of": N_("Page element missing: {what}"),
    "cause.network": N_("Network error"),
    "cause.network.of": N_("Network error: {what}"),
    "cause.rate_limited": N_("Too many requests"),
    "cause.bad_payload": N_("Parameters refused"),
    "cause.bad_payload.of": N_("Parameters refused: field “{what}”"),
    "cause.crashed": N_("Flow crashed"),
    "cause.no_browser": N_("No browser"),
    "cause.worker_lost": N_("Worker lost"),
    "cause.bad_message": N_("Unreadable message"),
    "cause.unknown_type": N_("Unknown task type"),
    "cause.unknown_type.of": N_("Unknown task type: {what}"),
    "cause.missing_secret": N_("Missing password"),
    "cause.missing_secret.of": N_("Missing password: {what}"),
    "store.gone": N_(
        "Tasks that were parked or planned for later had no message that could bring them back: create again what its"
        " backup does not have"
    ),
    "store.held": NN_("{n} task is held: a person decides", "{n} tasks are held: a person decides"),
    "cause.id_conflict": N_("Task id in use"),
    "cause.no_command": N_("No flow program"),
    "cause.expired": N_("Expired before it started"),
    "cause.cancelled": N_("Cancelled"),
    "cause.already_done": N_("Done already"),
    "cause.unknown": N_("Unknown error"),
    "cause.other": "{what}",
}

TASKS: dict[str, str] = {
    "task.hung": N_("It has run for {span}, usually {usual}, and says nothing of how far it is"),
    "task.long": N_(
        "It has run for {span}: past the 95th percentile of {type} on {platform}, {nearly} by the last {count}"
    ),
    "task.long_of": N_("{type} of {shop} runs for {span}"),
}

SENTENCES: dict[str, str] = {**FILTER, **GATES, **VERDICTS, **WORTH, **CAUSES, **TASKS}
