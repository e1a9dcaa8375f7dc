"""What the engine itself writes into records: errors of attempts, letters and held tasks, notes of pauses and closed
shops, what a heartbeat says of its connections.

Records keep plain English, for every program that reads them; a window finds the sentence again and says it in its own
language. What flows and libraries said stays theirs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from services.domain.text.message import Message, Param
from services.domain.text.refusals import REFUSALS
from services.domain.text.sentences import N_

SENTENCES: dict[str, str] = {
    "own.secret_missing": N_("its address is not known on {machine}: set {variable} there, or keep it in its keyring"),
    "own.address_bad": N_("its address is none that a channel of the kind {kind} understands"),
    "own.lost": N_("the worker that ran it fell silent"),
    "own.taken": N_(
        "its message left the queue and nobody recorded an outcome: an unknown consumer has taken it;"
        " look into the shop"
    ),
    "own.held_twin": N_(
        "another program sent it while the same work waits or runs already; a person says whether it runs too"
    ),
    "own.dropped": N_("dependency {id} is dead"),
    "own.dropped_cancelled": N_("dependency {id} is cancelled"),
    "own.known_issue": N_("known issue {fingerprint}"),
    "own.by_number": N_("its work had succeeded since: {by} typed how many of a bulk are done once more"),
    "own.expired": N_("it was to start by {by} and could not; nothing was run"),
    "own.no_message": N_("no message can be made of this record: {why}"),
    "own.worker_failed": N_("the worker itself failed: {why}"),
    "own.worker_stopped": N_("the worker was stopped"),
    "own.slots_busy": N_("all slots of the worker were busy"),
    "own.made_way": N_("made way for {task}"),
    "own.not_begun": N_("stopped before it started"),
    "own.stopped": N_("stopped on request"),
    "own.killed": N_("killed on request"),
    "own.stopped_closing": N_("stopped because this worker closes"),
    "own.killed_closing": N_("killed because this worker closes"),
    "own.fenced": N_("ended because its lease was lost: the task runs elsewhere, has ended, or its record is gone"),
    "own.no_end": N_("no end within {seconds} s"),
    "own.no_end_killed": N_("no end within {seconds} s; it was killed"),
    "own.no_end_asked": N_("no end within {seconds} s; it ended when asked"),
    "own.no_end_itself": N_("no end within {seconds} s; it ended by itself"),
    "own.no_answer": N_("no answer within {seconds} s"),
    "own.sent_unanswered": N_("the request was sent and no answer came: {why}"),
    "own.untrusted": N_("the certificate of the server is not trusted: {why}"),
    "own.host_ended": N_("the browser host ended in the middle of it"),
    "own.cannot_any_more": N_("this worker can no longer run {type}; it goes to one that can"),
    "own.not_defined": N_("task type {type} is not defined and strict_types is on; define it or turn the setting off"),
    "own.no_request": N_("this worker has no request for {type}; set executors.http.requests there"),
    "own.no_handler": N_("no handler for {type} is registered on this worker; add its module to worker.handlers"),
    "own.no_process": N_("this machine could not start a process: {why}"),
    "own.no_folder": N_("no folder for the attempt: {why}"),
    "own.no_program": N_("no command is configured; set executors.rpa.command on this worker"),
    "own.not_json": N_("the payload of the record is not JSON: {why}"),
    "own.option": N_("{item} became {what}, which the command would take for an option"),
    "own.batch_file": N_("{program} is a batch file, which runs in a shell; name the program itself"),
    "own.too_long": N_(
        "the payload is too long for a command line ({size} characters): shorten it or pass a reference"
    ),
    "own.signal": N_("the command was ended by signal {number} ({name})"),
    "own.exit": N_("the command ended with exit code {code} and no error text"),
    "own.exit_last": N_("the command ended with exit code {code} and no error text; its last line was: {line}"),
    "own.signal_last": N_("the command was ended by signal {number} ({name}); its last line was: {line}"),
    "own.waits": N_("it goes on when both answer again: {why}"),
    "own.no_shop": N_("no enabled shop fits its selection"),
    "own.policy_aside": N_("its policy could not be read and was set aside: import the type again, then resume"),
    "own.entry_aside": N_("the entry could not be read and was set aside"),
    "own.repair": N_("repair"),
    "own.sample_fleet": N_("sample fleet"),
    "own.link_lost": N_("the connection was lost"),
    "own.link_dumb": N_("no heartbeat came from the broker"),
    "own.link_held": N_("the broker held publishers back for too long"),
    "own.broker_holds": N_("RabbitMQ at {place} holds publishers back ({why})."),
    "own.queues_away": N_("Queues that cannot be reached: {names}"),
    "own.channel_closed": N_("The broker closed a consumer's channel: {why}"),
    "own.channel_shops": N_("The broker closed the channel of the shops' queues: {why}"),
    "own.held_too_long": N_("The broker took back deliveries held longer than its consumer_timeout: {why}"),
    "own.already_done": N_("the same work succeeded as {id}, by {by}; nothing was run"),
    "own.work_unreadable": N_(
        "nobody knows whether the same work was done: its entry in the ledger ({work}) cannot be read, and `repair`"
        " sets it aside; nothing was run"
    ),
    "own.no_browser_of": N_("no browser of {shop} runs here"),
    "own.works_in_it": N_("a task works in the browser of {shop}"),
    "own.browser_between": N_("the browser of {shop} is just starting or ending"),
    "own.profile_held": N_("another process holds the profile of {shop} and does not let go"),
    "own.browser_missing": N_("there is no browser on this machine: install fleetdeck[browser] and Chromium"),
    "own.no_sandbox": N_(
        "Chromium may not wall its pages in here: install chromium-sandbox, or let the container make user namespaces"
    ),
    "own.host_silent": N_("the browser host has not answered within {seconds} s"),
    "own.no_window": N_("no window of {shop} is open here"),
    "own.window_open": N_("the window of {shop} is open already"),
    "own.task_in_profile": N_("a task of {shop} works in its browser; wait for its end, or pause the shop"),
    "own.left": N_("{left} of {of} tasks have not ended"),
    "own.step": N_("step {step}: {why}"),
    "own.no_site": N_(
        "{url} is a path, and this worker knows no site for it: set executors.browser.sites.{platform}, or name a whole"
        " address"
    ),
    "own.no_secret": N_("there is no secret {name} on this worker"),
    "own.no_secret_of": N_(
        "there is no secret {name} for {shop} on this worker; put it into its environment or keyring"
    ),
    "own.secret_unset": N_("the secret {name} is missing on this worker; set {variable}"),
    "own.page_crashed": N_("the page crashed"),
    "own.chromium_ended": N_("Chromium ended in the middle of the step"),
    "own.led_to_closed": N_("it led to an address that is not opened: {why}"),
    "own.led_to": N_("it led to {url}: {why}"),
    "own.to_login": N_("redirected to login at {url}"),
    "own.captcha": N_("captcha at {url}"),
    "own.selector": N_("the selector {selector} cannot be read: {said}"),
    "own.not_opened": N_("{url} cannot be opened: {why}"),
    "own.redirects_ever": N_("it redirects for ever ({code})"),
    "own.redirects_closed": N_("it redirects to an address that is not opened ({code})"),
    "own.host_unknown_code": N_("the host name is unknown ({code})"),
    "own.refused_code": N_("the connection was refused ({code})"),
    "own.host_unknown": N_("the host name is unknown"),
    "own.refused": N_("the connection was refused"),
    "own.mute": N_("it does not answer"),
    "own.proxy_no_http": N_("the proxy answers no HTTP"),
    "own.proxy_refused": N_("the proxy refused it: {said}"),
    "own.proxy_code": N_("the proxy refused it (code {code})"),
    "own.proxy_login": N_("the proxy refused user and password"),
    "own.proxy_asks": N_("the proxy asks for user and password"),
    "own.not_loaded": N_("{url} did not load within {seconds} s"),
    "own.no_page": N_("{url} is a file to download and no page; the step download takes such files"),
    "own.no_download": N_("no download came within {seconds} s"),
    "own.page_not_said": N_("the page does not say {text} within {seconds} s"),
    "own.not_said": N_("{selector} does not say {text} within {seconds} s"),
    "own.nothing_fit": N_("waiting for selector {selector}: nothing fit within {seconds} s"),
    "own.many_entries": N_("{name} has more than {most} entries"),
    "own.no_upload_folder": N_("this worker has no executors.browser.upload_folder"),
    "own.not_in_upload": N_("{file} is not in the upload folder of this worker"),
    "own.large_download": N_("the download is larger than {most} MB (executors.browser.download_mb)"),
    "own.answered": N_("{url} answered {status}"),
    "own.answered_said": N_("{url} answered {status}: {said}"),
    "own.host_not_started": N_("the browser host did not start: {said}"),
    "own.host_over": N_("the browser host ended"),
    "own.no_debug_port": N_("Chromium has no debug port"),
    "own.no_free_browser": N_(
        "no browser became free within {seconds} s: {why}; raise executors.browser.max_total, or lower worker.slots"
    ),
    "own.all_at_work": N_("all {most} browsers are at work ({names})"),
    "own.all_at_work_shared": N_("all {most} browsers are at work ({names}, and the one that light contexts share)"),
    "own.all_at_work_light": N_("all {most} browsers are at work (the one that light contexts share)"),
    "own.no_picture_there": N_("there is no page to take a picture of"),
    "own.picture_too_large": N_("Chromium takes no picture of a page of {wide} × {high} pixels"),
    "own.no_picture_late": N_("the page gave no picture in time"),
    "own.profile_worked_in": N_("another process works in the profile of {shop}"),
    "own.opens_no_page": N_("Chromium does not open a page: {said}"),
    "own.chromium_cannot": N_("Chromium cannot be started: {said}"),
    "own.chromium_did_not": N_("Chromium did not start: {said}"),
    "own.no_screen": N_(
        "there is no screen here for the window of its browser: log in from a desktop session, or where the shop's"
        " worker runs"
    ),
    "own.server_answered": N_("the server answered {status}"),
    "own.server_answered_said": N_("the server answered {status}: {said}"),
    "own.server_wanted": N_("the server answered {status}, wanted {wanted}"),
    "own.server_wanted_said": N_("the server answered {status}, wanted {wanted}: {said}"),
    "own.header_controls": N_("{place} has control characters, which no header may have"),
    "own.no_place": N_("{place} in the request of this worker is no known place"),
    "own.payload_lacks": N_("{place} is missing and the request needs it"),
    "own.texts": N_("payload.url and payload.method must be texts"),
    "own.headers": N_("payload.headers must be an object of texts"),
    "own.expect": N_("payload.expect must be a list of statuses such as 200"),
    "own.method": N_("method must be one of {known}, not {method}"),
    "own.header_cannot": N_("the header {name} cannot be sent"),
    "own.many_redirects": N_("more than {most} redirects"),
    "own.large_answer": N_("the answer is larger than {most} bytes (executors.http.response_mb)"),
    "own.broke_off": N_("ConnectionResetError: the connection broke {size} bytes before the end of the answer"),
    "own.to_plain_http": N_("a redirect from https to http is refused"),
    "own.url_blanks": N_("the url has blanks or control characters"),
    "own.url_unread": N_("the url cannot be read: {why}"),
    "own.url_port": N_("the port must be 1 to 65535"),
    "own.url_scheme": N_("the scheme {scheme} is refused: only http and https are asked"),
    "own.url_no_host": N_("the url names no host"),
    "own.url_bad_host": N_("the url names no host that can be asked: {why}"),
    "own.url_login": N_("the url holds a user or a password; put it into a header with {place}"),
    "own.private": N_("{host} lies in a private network; {setting} of this worker names those that may"),
    "own.handler_exit": N_("the handler's process ended with exit code {code} before the handler returned"),
    "own.handler_signal": N_("the handler's process was ended by signal {number} ({name})"),
    "own.handler_gone": N_("its process is gone"),
    "own.cannot_start": N_(
        "{program} cannot be started: {why}; install it, or set executors.rpa.command (and executors.rpa.cwd) in this"
        " worker's configuration"
    ),
    "own.cannot_start_in": N_(
        "{program} cannot be started in {folder}: {why}; install it, or set executors.rpa.command (and"
        " executors.rpa.cwd) in this worker's configuration"
    ),
    "own.an_object": N_("an object"),
    "own.a_list": N_("a list"),
    "own.text": N_("text"),
    "own.a_text": N_("a text"),
    "own.true_or_false": N_("true or false"),
    "own.null": N_("null"),
    "own.a_number": N_("a number"),
    "own.msg_called": N_("in the message the task is called {called}"),
    "own.msg_type": N_("content_type must be application/json, not {value}"),
    "own.msg_encoding": N_("content_encoding must be empty or utf-8, not {value}: send plain JSON"),
    "own.msg_id": N_("task_id must be 1 to 200 printable ASCII characters, not {value}"),
    "own.msg_name": N_("{field} must be 1-64 of A-Z a-z 0-9 _ -, not {value}"),
    "own.msg_shop": N_("shop_id must be 1-64 of A-Z a-z 0-9 _ - and not a lane's name, not {value}"),
    "own.msg_time": N_("created_at must be an ISO 8601 time such as 2026-11-21T08:00:00+08:00, not {value}"),
    "own.msg_years": N_("created_at must lie between 2000 and 2100, not {value}"),
    "own.msg_empty": N_("the message is empty"),
    "own.msg_bytes": N_("the message has {size} bytes; the limit is {most}"),
    "own.msg_deep": N_("the message is nested deeper than {most} levels"),
    "own.msg_object": N_("the message must be a JSON object, not {given}"),
    "own.msg_lacks": N_("{lacking} is missing"),
    "own.msg_lack": N_("{lacking} are missing"),
    "own.msg_text": N_("{field} must be text, not {given}"),
    "own.msg_payload": N_("payload must be a JSON object, not {given}"),
    "own.msg_time_text": N_("created_at must be ISO 8601 text, not {given}"),
    "own.msg_priority": N_("priority must be high, normal, low or 1-10, not {given}"),
    "own.msg_carry": N_("the message holds text or numbers that JSON cannot carry: {why}"),
    "own.msg_half": N_(
        "the field {field} holds {half}, which is half of a character; send the character itself, or leave it out"
    ),
    "own.msg_utf8": N_("the message is not UTF-8 text (byte {at})"),
    "own.msg_json": N_("the message is not JSON: {why}"),
    "own.msg_schema": N_("{header} is {value}, here {known} is understood: update this worker"),
    "own.msg_headers": N_("the headers of the message are not a table"),
    "own.msg_whole": N_("{field} must be a whole number from 0 to {most}, not {value}"),
    "own.queue_json": N_("a message of the queue {queue} is not JSON: {why}"),
    "own.queue_fields": N_("the message has no fields {fields}; send them so that {place} finds them, or change that"),
    "own.queue_bad": N_("{field}: {why}; send it so that {place} finds it, or change that setting"),
    "own.queue_no_field": N_('the message has no field "{path}"'),
    "own.queue_kind": N_('the field "{path}" is {given}, and a text or a whole number is needed'),
    "own.queue_object": N_("it is {given}, and an object is needed"),
    "own.queue_name": N_("{value} is none: 1-64 of A-Z a-z 0-9 _ -"),
    "own.queue_priority": N_("{value} is not high, normal, low or 1-10"),
    "own.queue_id": N_("it must be 1 to 200 printable ASCII characters"),
}
#: what the worker itself writes into the log of an attempt, between the lines that a flow printed
LINES: dict[str, str] = {
    "line.again": N_("{why}; trying again in {seconds} s"),
    "line.no_picture": N_("no picture of the page: {why}"),
    "line.picture_cut": N_("the page is {high} pixels high; the picture shows the first {kept} of them"),
    "line.not_asked": N_("not asked: {why}"),
    "line.new_tab": N_("a new tab was opened; the flow goes on there"),
    "line.unasked": N_("a download that no step asked for was dropped: {file}"),
    "line.downloaded": N_("downloaded {file}, {size} bytes"),
    "line.dialog": N_("a dialog ({kind}) was dismissed: {words}"),
    "line.redirected": N_("{status}: on to {host}"),
    "line.left_out": N_("… {size} lines are left out here …"),
}
#: streams of a log whose lines are ours, by those of a flow that they stand among
OWN_STREAMS = {"out": "own", "err": "own_err"}
#: what the system and the libraries of connections say of the usual failures, as a person may read it
FOREIGN: dict[str, str] = {
    "foreign.refused": N_("nobody listens there: the connection was refused"),
    "foreign.late": N_("no answer in time"),
    "foreign.unknown_host": N_("the host name is not known"),
    "foreign.no_route": N_("the network does not lead there"),
    "foreign.closed": N_("the other side closed the connection"),
    "foreign.stopped": N_("the server was stopped"),
    "foreign.login": N_("the login was refused: check user name and password"),
    "foreign.untrusted": N_("the certificate is not trusted: {why}"),
    "foreign.no_tls": N_("the other side does not speak TLS"),
    "foreign.no_room": N_("there is no room left on the disk"),
    "foreign.not_allowed": N_("this is not allowed there, or another program has the file open"),
    "foreign.read_only": N_("nothing can be written there"),
    "foreign.not_there": N_("there is no such file or folder"),
    "foreign.folder": N_("there is a folder of this name"),
    "foreign.there": N_("there is a file of this name already"),
    "foreign.no_file": N_("it is no plain file"),
    "foreign.long_name": N_("the name is too long"),
    "foreign.disk": N_("the disk reports an error"),
    "foreign.json_value": N_("a value is missing in line {line}, at character {column}"),
    "foreign.json_name": N_("a name in double quotes is missing in line {line}, at character {column}"),
    "foreign.json_sign": N_("a {sign} is missing in line {line}, at character {column}"),
    "foreign.json_extra": N_("there is more behind its end in line {line}, at character {column}"),
    "foreign.json_comma": N_("the last comma is too much in line {line}, at character {column}"),
    "foreign.json_quote": N_("the quotation mark in line {line}, at character {column}, is never closed"),
    "foreign.json_control": N_("a character that does not print stands in line {line}, at character {column}"),
    "foreign.json_escape": N_("a backslash that JSON does not know stands in line {line}, at character {column}"),
}
#: the class of an error, the number of a system call, and to whom: what may stand before
_LEAD = r"(?:[\w.]*(?:Error|Exception|Timeout|Refused|error): )*(?:\[(?:Errno|WinError) -?\d+\] |\w*\(-?\d+, ')?"
_TO = r"(?:Error (?:-?\d+ )?(?:connecting to|(?:while )?(?:reading from|writing to)) \S+?(?: : |[.:] )(?:\(\d+, ')?)?"
#: where Python's reader of JSON stood
_SPOT = r": line (?P<line>\d+) column (?P<column>\d+) \(char \d+\)"
_FOREIGN: tuple[tuple[str, str], ...] = (
    ("foreign.refused", r"(?:Connection refused|Connect call failed \(.*\)|No connection could be made.*)"),
    (
        "foreign.late",
        r"(?:timed out|(?:Connection|The \w+ operation) timed out|Operation timed out|Timeout \w+(?: \w+)? \S+)",
    ),
    (
        "foreign.unknown_host",
        r"(?:Name or service not known|Temporary failure in name resolution|nodename nor servname provided.*|"
        r"getaddrinfo failed|No address associated with hostname)",
    ),
    ("foreign.no_route", r"(?:No route to host|Network is unreachable|Host is (?:down|unreachable))"),
    (
        "foreign.closed",
        r"(?:Connection reset by peer|Broken pipe|Connection closed by server|Connection aborted|"
        r"Software caused connection abort|Server disconnected|EOF occurred in violation of protocol.*)",
    ),
    ("foreign.stopped", r"320 CONNECTION_FORCED - .*(?:shutdown|[Cc]losed via|node is (?:going|being)).*"),
    (
        "foreign.login",
        r"(?:403 ACCESS_REFUSED - Login was refused.*|NOAUTH .*|WRONGPASS .*|invalid username-password pair.*|"
        r"Authentication required.*)",
    ),
    ("foreign.untrusted", r"(?:\[SSL: )?(?:CERTIFICATE_VERIFY_FAILED\] )?certificate verify failed: (?P<why>.+)"),
    ("foreign.no_tls", r"\[SSL: (?:WRONG_VERSION_NUMBER|UNEXPECTED_MESSAGE|RECORD_LAYER_FAILURE)\].*"),
    ("foreign.no_room", r"(?:No space left on device|Disk quota exceeded|There is not enough space on the disk)"),
    (
        "foreign.not_allowed",
        r"(?:Permission denied|Operation not permitted|Access is denied|The process cannot access the file .*)",
    ),
    ("foreign.read_only", r"Read-only file system"),
    ("foreign.not_there", r"(?:No such file or directory|The system cannot find the (?:file|path) specified)"),
    ("foreign.folder", r"Is a directory"),
    ("foreign.there", r"(?:File exists|Cannot create a file when that file already exists)"),
    ("foreign.no_file", r"it is no plain file"),
    ("foreign.long_name", r"File name too long"),
    ("foreign.disk", r"Input/output error"),
    ("foreign.json_value", rf"Expecting value{_SPOT}"),
    ("foreign.json_name", rf"Expecting property name enclosed in double quotes{_SPOT}"),
    ("foreign.json_sign", rf"Expecting '(?P<sign>[:,])' delimiter{_SPOT}"),
    ("foreign.json_extra", rf"Extra data{_SPOT}"),
    ("foreign.json_comma", rf"Illegal trailing comma before end of (?:object|array){_SPOT}"),
    ("foreign.json_quote", rf"Unterminated string starting at{_SPOT}"),
    ("foreign.json_control", rf"Invalid control character at{_SPOT}"),
    ("foreign.json_escape", rf"Invalid \\(?:uXXXX )?escape:?{_SPOT}"),
)
#: by whom a pause, a closed shop, a right or a task is that the program itself put there
REPAIR, SAMPLE_FLEET = "repair", "sample fleet"
_BY = {REPAIR: "own.repair", SAMPLE_FLEET: "own.sample_fleet"}
#: what stands in notes and as reasons beside what people write there
_NOTES = (
    *("own.repair", "own.policy_aside", "own.entry_aside", "own.by_number", "own.dropped", "own.dropped_cancelled"),
    "own.known_issue",
)
#: what is said of a value, within a sentence only
_KINDS = ("own.an_object", "own.a_list", "own.text", "own.a_text", "own.true_or_false", "own.null", "own.a_number")
#: families of refusals: of files of attempts, which stand in notes about them alone, and of anything else
_OF_FILES = "artifact."
#: longer lines are no sentences of the engine
_LONGEST = 1_000
#: letters (with a stroke before each blank) that a refusal must have beside its place-holders to be known again
_TELLING = 20
#: families of refusals that are said of a field of a payload
_OF_FIELDS = ("schema", "batch", "priority")
_HOLE = re.compile(r"\\\{(\w+)\\\}")
_NUMBER, _WORD = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", r"\S+?"
#: what can stand in a place of the engine's own sentences; people and flows say the words around it of other things
_PLACES = {
    **dict.fromkeys(("seconds", "size", "most", "left", "of", "at", "number"), _NUMBER),
    **dict.fromkeys(("field", "host", "id", "machine", "setting", "shop", "task", "variable"), _WORD),
    "fingerprint": r"[0-9a-f]{16}",
    "status": r"\d{3}",
    "wanted": r"-?\d+(?:, -?\d+)*",
    "code": r"-?\d+|0x[0-9a-f]+|net::\w+",
    "url": r"(?:[A-Za-z][\w+.\-]{0,30}://|about:|data:|blob:|/)\S*?",
    "step": r"\d+(?:\.\w+)* .+?",
    "lacking": r"(?:task_id|shop_id|platform|task_type)(?:, (?:shop_id|platform|task_type))*",
    "name": r"'.+?'|\"[^\"]+\"|\S+?",
    "given": "|".join(SENTENCES[code] for code in _KINDS),
}
_OF_FIELD = re.compile(r"(?P<field>[A-Za-z_][\w.\[\]-]{0,200}): (?P<why>\S.*)")


def write(code: str, /, **params: Param) -> str:
    """The English sentence of a code of ``SENTENCES`` or ``LINES``, as it stands in records."""
    return (SENTENCES.get(code) or LINES[code]).format(**params)


def find(line: str) -> Message | None:
    """The sentence of the engine that a line of an error is, or what such a failure of a connection is called; None
    for what others said.
    """
    return (_found(line, "own") or _found(line, "") or _of_connection(line)) if len(line) <= _LONGEST else None


def note(words: str) -> Message | None:
    """What the program itself wrote into a note, as a reason or as a name; None for what people wrote there."""
    if words in _BY:
        return Message(_BY[words])
    found = _found(words, "own") if len(words) <= _LONGEST else None
    return found if found and found.code in _NOTES else None


def line(text: str) -> Message | None:
    """The sentence that a line of a log is, which stands in one of ``OWN_STREAMS``."""
    return _found(text, "line") if len(text) <= _LONGEST else None


def file_note(text: str) -> Message | None:
    """What was said of a file that is not kept."""
    return _found(text, _OF_FILES) if len(text) <= _LONGEST else None


def kind(word: str) -> Message | None:
    """What kind of value a word within a sentence names."""
    return next((Message(code) for code in _KINDS if SENTENCES[code] == word), None)


def of_field(line: str) -> tuple[str, Message] | None:
    """The field and what is wrong with it, where a line is a refusal of the payload by its type."""
    match = _OF_FIELD.fullmatch(line) if len(line) <= _LONGEST else None
    why = next(filter(None, (_found(match["why"], family) for family in _OF_FIELDS)), None) if match else None
    return (match["field"], why) if match is not None and why is not None else None


def _found(line: str, family: str) -> Message | None:
    for code, pattern in _patterns(family).items():
        if match := pattern.fullmatch(line):
            return Message(code, dict(match.groupdict()))
    return None


def _of_connection(line: str) -> Message | None:
    for code, pattern in _connection_patterns():
        if match := pattern.fullmatch(line):
            return Message(code, dict(match.groupdict()))
    return None


@functools.cache
def _connection_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((code, re.compile(rf"{_LEAD}{_TO}{words}'?\)?\.?")) for code, words in _FOREIGN)


@functools.cache
def _patterns(family: str) -> Mapping[str, re.Pattern[str]]:
    own = {code: words for code, words in SENTENCES.items() if code not in (*_KINDS, *_BY.values())}
    refusals = {k: v for k, v in REFUSALS.items() if k.startswith(family) and (family or not k.startswith(_OF_FILES))}
    table = {"own": own, "line": LINES}.get(family, refusals)
    fixed = {code: len(_HOLE.sub("", re.escape(words))) for code, words in table.items()}
    # the one with the most fixed words first: a sentence may be the beginning of a longer one; before those that begin
    # with a place those with words there, for another sentence may stand in such a place
    telling = [code for code in table if family or fixed[code] >= _TELLING]
    order = sorted(telling, key=lambda code: (family == "own" and table[code].startswith("{"), -fixed[code]))
    return {code: re.compile(_pattern(table[code], family)) for code in order}


def _pattern(words: str, family: str) -> str:
    """A place-holder that stands twice must say the same twice; a refusal of settings or files begins with one word."""
    seen: set[str] = set()

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        one = _WORD if not family and match.start() == 0 else ".+?"
        return f"(?P<{name}>{_PLACES.get(name, one) if family in ('own', 'line') else one})"

    return _HOLE.sub(place, re.escape(words))
