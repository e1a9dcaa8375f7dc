"""The sentences of alerts by code: of each rule a title with its numbers and the next step, and what frames them.

``services/messages.py`` renders them; ``{cause}`` is a sentence of its own. They hold numbers, names of shops, types
and machines, and nothing of a payload.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.text.sentences import N_, NN_

SENTENCES: Mapping[str, str] = {
    # ------------------------------------------------------------------------------------------------- what is wrong
    "alert.depth": NN_(
        "{n:,} task in the lane {lane} ({limit:,} allowed)", "{n:,} tasks in the lane {lane} ({limit:,} allowed)"
    ),
    "alert.oldest_wait": N_("The oldest task of the lane {lane} has waited for {span}"),
    "alert.unacked": NN_(
        "{n} task held by its worker for longer than it may be, the oldest for {span}",
        "{n} tasks held by their workers for longer than they may be, the oldest for {span}",
    ),
    "alert.hanging": NN_(
        "{type} of {shop} seems to hang: it runs for {span}, usually {usual}",
        "{n} tasks seem to hang, first {type} of {shop}: it runs for {span}, usually {usual}",
    ),
    "alert.slow": N_("{n} of {of} running {type} on {platform} take longer than 95 of 100 did ({nearly})"),
    "alert.failing": N_("{failed:,} of the last {of:,} attempts failed ({share})"),
    "alert.dead": NN_("{cause}: {n:,} dead letter, shops: {shops:,}", "{cause}: {n:,} dead letters, shops: {shops:,}"),
    "alert.login": NN_("{n} shop must be logged in again", "{n} shops must be logged in again"),
    "alert.captcha": NN_("{n} shop shows a captcha", "{n} shops show a captcha"),
    "alert.silent": NN_("Worker {worker} of {machine} is silent", "{n} workers of {machine} are silent"),
    "alert.leaderless": N_("Nobody led the fleet for {span}, from {from_at} to {to_at}"),
    "alert.leaderless_now": N_("Nobody leads the fleet since {from_at}"),
    "alert.lane_unserved": NN_(
        "No worker takes the lane {lane}: {n:,} task waits", "No worker takes the lane {lane}: {n:,} tasks wait"
    ),
    "alert.no_workers": NN_("No worker takes tasks: {n:,} waits", "No worker takes tasks: {n:,} wait"),
    "alert.broker_lost": NN_(
        "The broker does not answer: {n:,} task waits", "The broker does not answer: {n:,} tasks wait"
    ),
    "alert.broker_lost_idle": N_("The broker does not answer"),
    "alert.publisher_blocked_idle": N_("The broker takes no messages"),
    "alert.publisher_blocked": NN_(
        "The broker takes no messages: {n:,} task not sent", "The broker takes no messages: {n:,} tasks not sent"
    ),
    "alert.queue_rejects": NN_(
        "A queue rejects messages: {n:,} task not sent", "A queue rejects messages: {n:,} tasks not sent"
    ),
    "alert.file_lost": NN_(
        "The database of this computer does not answer: {n:,} task waits",
        "The database of this computer does not answer: {n:,} tasks wait",
    ),
    "alert.file_lost_idle": N_("The database of this computer does not answer"),
    "alert.unsent_here": NN_("{n:,} task is not in its lane yet", "{n:,} tasks are not in their lanes yet"),
    "alert.forgets": N_("Redis may forget what it was told"),
    "alert.schedule_late": NN_(
        "Schedule {name} has not fired, {span} late", "{n} schedules have not fired, the first {span} late"
    ),
    "alert.shop_failing": NN_("{n} shop fails too often: {cause}", "{n} shops fail too often: {cause}"),
    "alert.promise_broken": NN_(
        "Promise broken: {name}, in {n:,} shop of {total:,} since {from_at}",
        "Promise broken: {name}, in {n:,} shops of {total:,} since {from_at}",
    ),
    "alert.promise_at_risk": NN_(
        "Promise at risk: {name} breaks at {from_at} in {n:,} shop of {total:,}",
        "Promise at risk: {name} breaks at {from_at} in {n:,} shops of {total:,}",
    ),
    "alert.not_recorded": N_("The fleet is not recorded since {from_at}"),
    "alert.never_recorded": N_("The fleet is not recorded"),
    # -------------------------------------------------------------------------------------------------------- facts
    "alert.recorder_says": N_("the recorder says: {why}"),
    "alert.fact_at_risk": NN_("{n:,} more shop is at risk", "{n:,} more shops are at risk"),
    "alert.fact_failed": N_("{failed} of the last {of} attempts failed in {shop}"),
    "alert.fact_waiting": NN_("{n:,} task waits for that", "{n:,} tasks wait for that"),
    "alert.fact_unfinished": NN_("{n:,} task was unfinished meanwhile", "{n:,} tasks were unfinished meanwhile"),
    "alert.fact_led": N_("{leader} leads now"),
    "alert.fact_holder": N_("{type} of {shop} on {worker}"),
    "alert.fact_platforms": N_("Platforms: {platforms}; task types: {types}"),
    "alert.fact_unconfirmed": NN_("{n} task is unconfirmed", "{n} tasks are unconfirmed"),
    "alert.fact_queued": NN_("{n:,} task waits in this lane", "{n:,} tasks wait in this lane"),
    # ------------------------------------------------------------------------------------------------------- causes
    "alert.cause_no_taker": N_("no worker takes tasks now"),
    "alert.cause_full": NN_(
        "the only slot is busy: more comes than it works off",
        "all slots are busy ({busy} of {slots}): more comes than they work off",
        by="slots",
    ),
    "alert.cause_free": NN_(
        "the only slot is free: limits or busy shops hold back what waits",
        "only {busy} of {slots} slots are busy: limits or busy shops hold the others back",
        by="slots",
    ),
    "alert.cause_lanes": N_("the workers that run serve only {lanes}"),
    "alert.cause_held": N_("{type} of {shop} on {worker} does not end: it hangs, or its time-out is very long"),
    "alert.cause_hanging": N_("{type} of {shop} does not end and says nothing of how far it is"),
    "alert.cause_slow": N_("{platform} answers more slowly, or the flow meets a page that it does not know"),
    "alert.cause_silent": N_("nothing was heard for {span}: the process, its machine or the network is down"),
    "alert.cause_led": N_("{leader}, which led, is not heard of any more"),
    "alert.cause_no_store": N_("the store did not answer, or took no writes: nobody can lead without it"),
    "alert.cause_unreached": N_("nobody answers at its address: the server or the network is down"),
    "alert.cause_file": N_("its file is held by another program, or its disk is full or away"),
    "alert.cause_slow_here": N_("this computer writes to its database slowly: its load, or its disk"),
    "alert.cause_unconfirmed": N_("nobody could tell why yet"),
    "alert.cause_alarm": N_("RabbitMQ reports {why}"),
    "alert.cause_mixed": N_("several at once, none of them behind more than half of it"),
    "alert.cause_drift": N_("its page, its data or the flow itself has changed"),
    "alert.cause_no_recorder": N_("the process that leads records nothing and does not say why"),
    # ---------------------------------------------------------------------------------------------------- next steps
    "alert.next_depth": N_("Look at Queues: more slots for this lane, or lower what fills it."),
    "alert.next_wait": N_("Open the task: its first closed gate says what it waits for."),
    "alert.next_unacked": N_("Open the task; if it hangs, stop it, and look at the time-out of its type."),
    "alert.next_long": N_("Open the tasks: the step that they are at says what they wait for; stop one that hangs."),
    "alert.next_failing": N_("Look at the tasks that are retried: what most of them say is the cause."),
    "alert.next_dead": N_("Look at its dead letters; put the cause right, then republish them."),
    "alert.next_pause_platform": N_(
        "Pause the platform {name} until the cause is put right; then republish the dead letters."
    ),
    "alert.next_pause_type": N_(
        "Pause the task type {name} until the cause is put right; then republish the dead letters."
    ),
    "alert.next_pause_shop": N_("Pause the shop {name} until the cause is put right; then republish the dead letters."),
    "alert.next_pause_all": N_("Pause everything until the cause is put right; then republish the dead letters."),
    "alert.next_refuse": N_(
        "Let the workers on {machine} refuse {type} (Slots and lanes of the worker) until that machine is put right;"
        " then republish the dead letters."
    ),
    "alert.next_login": N_("Log the shops in (login of the shop's page); their tasks go on by themselves."),
    "alert.next_silent": N_("Look at the machine {machine} and start its worker again."),
    "alert.next_leader": N_(
        "Look why the processes that lead had stopped; let two of them run, one takes over in 15 s."
    ),
    "alert.next_store": N_("Look at Redis: its server, memory, disk and network; everything goes on by itself."),
    "alert.next_worker": N_("Start a worker that takes it."),
    "alert.next_broker": N_("Whoever runs RabbitMQ must act; everything goes on by itself once it is back."),
    "alert.next_here": N_("Look at the load and the disk of this computer; everything goes on by itself then."),
    "alert.next_redis": N_("Set appendonly yes and appendfsync always on Redis; doctor says the rest."),
    "alert.next_schedule": N_("Open the schedule: it says why it has not run."),
    "alert.next_shop": N_("Open the shops: their last attempts show what failed."),
    "alert.next_promise": N_("Open the promise {name}: it says shop by shop what helps. Who can act: {role}."),
    "alert.next_recorder": N_(
        "Look at the disk of the machine that leads: the folder recorder in its home. Everything else goes on."
    ),
    # ------------------------------------------------------------------------------------------------ around a message
    "alert.head_raised": N_("{id} {title}"),
    "alert.head_again": N_("{id} again: {title}"),
    "alert.head_escalated": N_("{id} escalated: {title}"),
    "alert.head_worse": N_("{id} worse: {title}"),
    "alert.head_resolved": N_("{id} resolved: {title}"),
    "alert.head_test": N_("Test of the channel {channel}"),
    "alert.since": N_("Since {at}, for {span}; figures as of {told}"),
    "alert.lasted": N_("It lasted {span}, since {at}"),
    "alert.worst": N_("At its worst it was {n:,}"),
    "alert.unanswered": N_("Nobody has answered for {span}."),
    "alert.extent": N_("{count:,} of {of:,}: {names}"),
    "alert.extent_names": N_("Where: {names}"),
    "alert.names_more": N_("{names} and {more:,} more"),
    "alert.cause": N_("Cause: {cause}"),
    "alert.next": N_("Next step: {step}"),
    "alert.answer": N_("Take it: alert answer {id}"),
    "alert.test_body": N_("{who} tests this channel from {machine}; nothing is wrong."),
    "alert.of_rule": N_("Rule “{rule}”, {severity}"),
    # ------------------------------------------------------------------------------------------------------ time line
    "alert.line_raised": N_("Raised"),
    "alert.line_back": N_("It came back before it was calm long enough"),
    "alert.line_grew": N_("Grew to {n:,}; the same incident, no new message"),
    "alert.line_escalated": N_("Escalated"),
    "alert.line_worse": N_("It became worse, and was told once more"),
    "alert.line_calm": N_("Nothing is seen of it any more"),
    "alert.line_resolved": N_("Resolved"),
    "alert.line_action": N_("{rule} did {action}"),
    "alert.no_command": N_("the settings of {machine} know no command {name}; it belongs under [alerts] commands"),
    "alert.command_failed": N_("the command {name} ended with {code}: {why}"),
    "alert.command_late": N_("the command {name} was ended after {span}"),
    "alert.line_action_failed": N_("{rule} could not do {action}: {why}"),
}
#: what a rule measures, for lists and forms
MEASURES: Mapping[str, str] = {
    "lane_depth": N_("Tasks in a lane"),
    "oldest_wait": N_("Oldest wait in a lane"),
    "unacked_age": N_("How long a worker holds a task"),
    "running_long": N_("Tasks that run past the 95th percentile"),
    "failure_rate": N_("Share of attempts that fail"),
    "drift": N_("A flow that is not as it was"),
    "dead_letters": N_("Dead letters of one cause"),
    "needs_login": N_("Shops that need a login or a captcha"),
    "silent_worker": N_("Silent workers"),
    "no_leader": N_("Nobody leads"),
    "lane_unserved": N_("A lane that no worker takes"),
    "publisher_blocked": N_("A broker that takes no messages"),
    "broker_alarm": N_("Memory or disk alarm of the broker"),
    "redis_forgets": N_("Redis may forget"),
    "schedule_late": N_("A schedule that has not fired"),
    "shop_failing": N_("A shop that fails too often"),
    "recorder_gap": N_("A fleet that is not recorded"),
    "promise_broken": N_("A promise that is broken"),
    "promise_at_risk": N_("A promise that is going to break"),
}
#: the titles of incidents that only a fleet on one computer has
TITLES_HERE = frozenset({"alert.file_lost", "alert.file_lost_idle", "alert.unsent_here"})
#: what takes the place of these, and of those below, where everything is on one computer: its engine and its storage
#: are no servers
MEASURES_HERE: Mapping[str, str] = {
    "publisher_blocked": N_("An engine that takes no tasks"),
    "broker_alarm": N_("Memory or disk alarm of the engine"),
    "redis_forgets": N_("A storage that may forget"),
}
#: of measures that what is recorded tells in part: how
TRIED: Mapping[str, str] = {
    "needs_login": N_("Logins and captchas are counted as one, without shops that have a task to decide"),
    "silent_worker": N_("Each worker is counted by itself, those of one machine are told of together"),
    "failure_rate": N_("Whatever the causes: one that another rule has told already is counted here as well"),
    "shop_failing": N_("Shops are counted of the kind of failure that most of them have"),
    "publisher_blocked": N_("As whoever led met the broker: what other programs could not send is not recorded"),
    "dead_letters": N_("Dead letters are counted of the cause that has most of them"),
    "running_long": N_("Tasks that are slow together are counted of the type and platform with most of them"),
    "lane_unserved": N_("All lanes are counted as one"),
    "drift": N_("The flow that is furthest from what it was is counted, the others are not"),
    "promise_broken": N_("Shops are counted of the promise that is broken in most of them"),
    "promise_at_risk": N_("Shops are counted of the promise that is at risk in most of them"),
}
#: of the others: why nobody can say how often a rule would have told somebody
UNTRIED: Mapping[str, str] = {
    "no_leader": N_("Whoever leads records: of the time in which nobody led there is no record"),
    "broker_alarm": N_("The recorder keeps that the broker takes no messages, and not which alarm it has"),
    "redis_forgets": N_("The recorder does not keep the settings of Redis"),
    "recorder_gap": N_("Of what was not recorded nobody can say whether somebody led"),
}
TRIED_HERE: Mapping[str, str] = {
    "publisher_blocked": N_("As whoever led met the engine: what other programs could not send is not recorded"),
}
UNTRIED_HERE: Mapping[str, str] = {
    "broker_alarm": N_("The engine of this computer has no such alarm"),
    "redis_forgets": N_("The storage of this computer writes everything to the disk at once"),
}
#: when a rule of a measure sees something, with its own numbers; for lists and forms
CONDITIONS: Mapping[str, str] = {
    "lane_depth": N_("more than {tasks} tasks in one lane"),
    "oldest_wait": N_(
        "a task waits longer than {high_minutes} min (high), {normal_minutes} min (normal) or {low_minutes} min (low)"
    ),
    "unacked_age": N_("a worker holds a task for longer than {minutes} min"),
    "failure_rate": N_("more than {percent} percent of at least {attempts} attempts in {minutes} min fail"),
    "dead_letters": N_("dead letters of one cause that nobody has looked at, from {letters} on"),
    "needs_login": N_("shops that need a login or show a captcha, from {shops} on"),
    "silent_worker": N_("a worker is not heard of for {seconds} s; forgotten after {minutes_after} min"),
    "no_leader": N_("nobody leads for {seconds} s while something is unfinished"),
    "lane_unserved": N_("tasks wait, and no worker takes their lane"),
    "publisher_blocked": N_("the broker does not answer, or takes no messages"),
    "broker_alarm": N_("RabbitMQ has an alarm of its memory or disk"),
    "redis_forgets": N_("Redis keeps nothing on its disk, or its writes fail"),
    "running_long": N_(
        "tasks seem to hang, from {hanging} on, or tasks of one type and platform are slow together, from {together} on"
    ),
    "schedule_late": N_("a schedule is a minute late"),
    "shop_failing": N_("shops whose breaker is open: too many of their last attempts failed, from {shops} on"),
    "drift": N_("a flow takes {factor} times as long as before, or brings so many times fewer rows"),
    "recorder_gap": N_("nothing is recorded for {seconds} s while somebody leads"),
    "promise_broken": N_("a promise is broken in at least {shops} of its shops"),
    "promise_at_risk": N_("a promise is going to break in at least {shops} of its shops"),
}
CONDITIONS_HERE: Mapping[str, str] = {
    "publisher_blocked": N_("the engine does not answer, or takes no tasks"),
    "broker_alarm": N_("the engine has an alarm of its memory or disk (on this computer it never has)"),
    "redis_forgets": N_("the storage keeps nothing on its disk (on this computer it always does)"),
}
