"""Records as JSON documents: instants as ISO 8601 in UTC, texts that are JSON as JSON."""

from __future__ import annotations

import json

from services.cli import shapes
from services.domain.task.artifact import ArtifactMark
from services.domain.task.record import Attempt, Step, Task

TASK = Task(
    task_id="t1",
    shop_id="s1",
    platform="pdd",
    task_type="work",
    payload='{"a":1}',
    result="[1,2]",
    created_at=1_795_219_200_000,
    marks=("twin",),
    steps=(Step(1_795_219_200_000, "", "pending", "", 0, 0, "ann"), Step(1_795_219_200_001, "pending", "queued")),
    attempts=(
        Attempt(
            1,
            "w1",
            1_795_219_200_002,
            1_795_219_200_012,
            "succeeded",
            artifacts=(ArtifactMark("a.png", "image", 5, "ab", "open", 1_795_219_200_010, "x/y"),),
            artifacts_note="b.png is larger than 50 MB",
        ),
    ),
)


def test_every_field_of_the_record_is_there() -> None:
    document = shapes.task(TASK)
    assert set(document) == set(Task.__struct_fields__) - {"steps", "attempts"}
    assert (document["payload"], document["result"], document["extra"]) == ({"a": 1}, [1, 2], None)
    assert (document["created_at"], document["ended_at"]) == ("2026-11-21T00:00:00.000+00:00", None)
    assert document["marks"] == ["twin"]
    json.dumps(document)


def test_the_document_of_task_show() -> None:
    document = shapes.document(TASK, [{"name": "paused"}])
    assert set(document) == {"task", "attempts", "gates", "events"}
    assert document["attempts"] == [
        {
            "number": 1,
            "worker": "w1",
            "started_at": "2026-11-21T00:00:00.002+00:00",
            "ended_at": "2026-11-21T00:00:00.012+00:00",
            "outcome": "succeeded",
            "error_kind": "",
            "error": "",
            "retry_in_s": -1,
            "artifacts": [
                {
                    "name": "a.png",
                    "kind": "image",
                    "size": 5,
                    "sha256": "ab",
                    "step": "open",
                    "at": "2026-11-21T00:00:00.010+00:00",
                    "place": "x/y",
                }
            ],
            "artifacts_note": "b.png is larger than 50 MB",
            "took": (),
        }
    ]
    assert [(event["from"], event["to"], event["note"]) for event in document["events"]] == [
        ("", "pending", "ann"),
        ("pending", "queued", ""),
    ]


def test_a_text_that_is_no_json_is_shown_as_it_is() -> None:
    assert (
        shapes.task(Task(task_id="t", shop_id="s", platform="p", task_type="x", result="half {"))["result"] == "half {"
    )
