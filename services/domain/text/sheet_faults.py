"""Why a row of a file becomes no task, and why a column is not used, by code; each sentence ends with what to do."""

from __future__ import annotations

from services.domain.text.sentences import N_, NN_

SHEET: dict[str, str] = {
    "sheet.csv": N_("not readable as a row ({error}); look at its quotation marks"),
    "sheet.json": N_("not readable as JSON: {error}"),
    "sheet.no_object": N_('not a JSON object; write {{"shop": "…", "type": "…"}}'),
    "sheet.cells": NN_(
        "{count} cells, but there is {columns} column; put a cell that contains commas in quotes",
        "{count} cells, but there are {columns} columns; put a cell that contains commas in quotes",
        by="columns",
    ),
    "sheet.formula": N_("a formula without a value; open the file in Excel and save it"),
    "sheet.error_cell": N_("an error of the sheet; correct the cell"),
    "sheet.no_type": N_("no task type; fill it in"),
    "sheet.type": N_("no such task type; see the page Task types, or `type list`"),
    "sheet.type_near": N_("no such task type; did you mean {near}?"),
    "sheet.type_several": N_("several task types are called that: {names}; write the code"),
    "sheet.no_shop": N_("no shop; fill in its id or its name"),
    "sheet.shop": N_("no such shop is registered; correct it, or import the shop first"),
    "sheet.shop_near": N_("no such shop is registered; did you mean {near}?"),
    "sheet.shop_elsewhere": N_("not a shop of {platform}; it is {shop}"),
    "sheet.shop_zeros": N_(
        "no such shop, but there is {near}: Excel drops leading zeros; format the column as text and write the id again"
    ),
    "sheet.shop_several": N_("several shops fit: {names}; give the id and the platform"),
    "sheet.shop_name_other": N_("this is the name of {shop}, the id is another shop; correct one of them"),
    "sheet.two_ids": N_(
        "beside the id {word} this is another one; say which column is the shop, and leave the other one out"
        " (--map '{column}=-')"
    ),
    "sheet.shop_word": N_("no id of a shop; it has 1-64 of A-Z a-z 0-9 _ -"),
    "sheet.shop_title": N_(
        "this may be the title of the list; take the line out, or write platform:{word} where it is a shop"
    ),
    "sheet.rounded": N_(
        "spreadsheets round numbers of more than 15 digits and shorten long ones to 1.2E+10; format the column as text"
        " and write it again"
    ),
    "sheet.digits": N_("a number of {digits} digits; there are at most {most}"),
    "sheet.no_platform": N_("no platform; fill it in"),
    "sheet.platform": N_("no shop is registered on such a platform; there are {codes}"),
    "sheet.platform_word": N_("no platform; it has 1-64 of A-Z a-z 0-9 _ -"),
    "sheet.priority": N_("no priority; write 1 to 10, or high, normal, low (高, 普通, 低)"),
    "sheet.lane": N_("no lane; write high, normal or low (高, 普通, 低)"),
    "sheet.lane_other": N_("priority {priority} belongs to the lane {lane}; correct one of them"),
    "sheet.payload": N_('not clear: {error}; write {{"page_size": 50}} or page_size=50'),
    "sheet.payload_at": N_('not readable at character {at}; write {{"page_size": 50}} or page_size=50'),
    "sheet.payload_object": N_('no names with values; write {{"page_size": 50}} or page_size=50'),
    "sheet.payload_quotes": N_('curly quotation marks or full-width signs are no JSON; use plain " : ,'),
    "sheet.pair": N_("{part} is no name=value; write page_size=50; since=2026-11-20"),
    "sheet.pair_twice": N_("{name} is given twice; leave one of them out"),
    "sheet.not_of_type": N_("{type} has no parameter {name}; leave the cell empty"),
    "sheet.masked": N_("{name} is hidden by dots, as in an export; fill in the secret itself"),
    "sheet.time": N_("no time; write 2026-11-22 08:00, tomorrow 9:00, or a duration from now such as 30m"),
    "sheet.time_day": N_("a day without a time; write it too, as in 2026-11-22 08:00"),
    "sheet.no_day": N_("no day of the calendar; write one as in 2026-11-22 08:00"),
    "sheet.time_past": N_("this time is past"),
    "sheet.delay": N_("no duration; write seconds, or 30m or 2h"),
    "sheet.late": N_("the task would not be due before it; move the deadline or the start"),
    "sheet.retries": N_("no number of retries; write 0 to 20"),
    "sheet.depends_on": N_("no list of ids and keys"),
    "sheet.policy": N_("must be hold or cancel"),
    "sheet.twin": N_("the same task as in row {row}; it is created once"),
    "sheet.twin_shop": N_("{type} runs once at a time in a shop, and row {row} has it already"),
    "sheet.active": N_("active already ({status}): {id}"),
    "sheet.unread": N_("nobody can read whether it was done already; to do it all the same needs a reason"),
    "sheet.done": N_("done already {span} ago as {id}, by {by}; to do it again needs a reason"),
    "sheet.refused": N_("{why}"),
    "sheet.ignored_note": N_("a note for people"),
    "sheet.ignored_record": N_("tells how the exported task fared"),
    "sheet.ignored_unknown": N_("not known"),
    "sheet.ignored_near": N_("not known; did you mean {near}?"),
    "sheet.ignored_again": N_("{column} says this already"),
    "sheet.ignored_heading": N_("column {n} has the same heading and is used"),
    "sheet.ignored_choice": N_("not used, as chosen"),
}
