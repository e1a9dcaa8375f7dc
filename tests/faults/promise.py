"""What may happen, and the test that shows what then holds: each accepted task ends once and none is missing.

A row is what is done, then the tests (file under ``tests`` and function), or, as one text, why nobody can do it on
Linux with one broker node. ``test_promise.py`` keeps the names true.
"""

from __future__ import annotations

_CRASH, _LINK = "faults/test_crash_points.py", "faults/test_connections.py"
_BROKER, _STORE, _RACES = "faults/test_broker.py", "faults/test_store.py", "faults/test_races.py"
_SERVICES, _PROCESSES = "faults/test_services.py", "faults/test_worker_processes.py"
_KILL, _REPAIR = "e2e/test_kill.py", "integration/test_engine_repair.py"
_PUBLISH, _RECOVERY = "integration/test_rabbitmq_publish.py", "integration/test_rabbitmq_recovery.py"
_TOPOLOGY, _NODES = "integration/test_rabbitmq_topology.py", "faults/test_cluster_nodes.py"

Rows = dict[str, str | tuple[tuple[str, str], ...]]

PROMISE: Rows = {
    # ------------------------------------------------------------------------------------ processes that die
    "kill -9 of a worker before it claims": ((_CRASH, "test_before_the_claim"),),
    "kill -9 in the middle of a task": (
        (_KILL, "test_kill_9_in_the_middle_of_two_hundred_tasks"),
        (_REPAIR, "test_a_task_of_a_lost_worker_is_taken_over"),
        (_PROCESSES, "test_kill_9_of_a_worker_ends_its_flows_within_seconds"),
    ),
    "kill -9 after the side effect, before the outcome is recorded": (
        (_KILL, "test_kill_9_in_the_middle_of_two_hundred_tasks"),
        ("faults/test_spool.py", "test_an_outcome_outlives_redis_and_its_worker"),
    ),
    "kill -9 after the outcome, before the acknowledgement": (
        (_CRASH, "test_after_the_record_before_the_acknowledgement"),
    ),
    "kill -9 after the retry was confirmed, before the acknowledgement": (
        (_CRASH, "test_after_the_retry_is_published_before_the_acknowledgement"),
    ),
    "kill -9 after the dead letter was published, before the acknowledgement": (
        (_CRASH, "test_after_the_dead_letter_is_published_before_the_acknowledgement"),
    ),
    "kill -9 of a submitter between record and publish": (
        (_REPAIR, "test_a_task_recorded_but_never_published_is_published"),
    ),
    "kill -9 of a submitter between publish and confirm": ((_REPAIR, "test_a_twin_message_is_skipped"),),
    "kill -9 of a console in the middle of a bulk republish": (
        ("faults/test_operator.py", "test_kill_9_in_the_middle_of_a_republish"),
    ),
    "kill -9 of the archiver between store and acknowledgement": (
        (_CRASH, "test_an_archiver_between_the_letter_and_its_acknowledgement"),
    ),
    "a worker that was frozen for longer than its lease wakes up": (
        (_PROCESSES, "test_a_worker_that_was_frozen_cannot_record"),
    ),
    "a task that crashes its process": (
        (_RACES, "test_a_task_that_crashes_its_process_is_given_up"),
        ("unit/services/executors/test_python.py", "test_a_crash_ends_the_child_and_not_the_worker"),
    ),
    "a task that hangs and holds the interpreter's lock": (
        ("unit/services/executors/test_python.py", "test_a_time_out_kills_what_does_not_listen"),
    ),
    "a graceful stop with running and prefetched tasks": (
        (_KILL, "test_a_stopped_worker_leaves_nothing_half_done"),
        (_REPAIR, "test_a_graceful_stop_gives_back_what_has_not_started"),
    ),
    "the signal to stop comes twice": ((_KILL, "test_a_stopped_worker_leaves_nothing_half_done"),),
    "ten thousand tasks while anything is killed every few seconds": "python -m tests.faults.chaos, as make chaos",
    # -------------------------------------------------------------------------------------------------- RabbitMQ
    "a restart of the broker with ten thousand queued": (
        (_BROKER, "test_a_restart_with_ten_thousand_in_the_queue"),
        (_RECOVERY, "test_a_restart_of_the_broker_keeps_messages_and_brings_everyone_back"),
    ),
    "kill -9 of the broker under publishing load": (
        (_RECOVERY, "test_killing_the_broker_under_load_loses_nothing_that_was_confirmed"),
    ),
    "kill -9 of a node of a cluster": (
        (_NODES, "test_every_node_may_go_and_new_commands_and_workers_get_in"),
        (_NODES, "test_every_command_works_while_a_node_is_away"),
        (_NODES, "test_a_connection_goes_on_with_another_node"),
    ),
    "a queue on a node that is away": ((_NODES, "test_a_queue_on_the_lost_node_is_named_and_the_others_serve"),),
    "a broker that confirms nothing while tasks end": (
        ("integration/test_engine_run.py", "test_an_outcome_that_waits_behind_a_silent_broker_keeps_its_lease"),
    ),
    "a broker that is away for long": ((_BROKER, "test_a_broker_that_is_away_for_long"),),
    "connections closed by the management API during a task": (
        (_LINK, "test_a_connection_is_closed_while_a_task_runs"),
        (_RECOVERY, "test_connections_closed_by_force_come_back_and_old_acks_are_counted_not_sent"),
    ),
    "a connection cut silently": (
        (_LINK, "test_a_broker_that_is_cut_off_silently_is_found_dead_and_then_found_again"),
        (_RECOVERY, "test_a_frozen_broker_is_noticed_by_its_silence"),
    ),
    "two seconds of latency and five per cent loss": (
        (_LINK, "test_two_seconds_of_latency_and_lost_packets_make_no_worker_look_dead"),
    ),
    "a task longer than consumer_timeout": (
        (_BROKER, "test_a_task_that_runs_longer_than_the_broker_waits_for_acknowledgements"),
        (
            "integration/test_rabbitmq_consume.py",
            "test_a_delivery_held_longer_than_the_broker_allows_costs_the_channel_not_the_consumer",
        ),
    ),
    "consumer_timeout of a quorum queue on 4.3, answered by Basic.Cancel": (
        (
            "unit/services/broker/test_rabbitmq_subscription.py",
            "test_a_consumer_cancelled_by_the_broker_starts_again_after_a_pause",
        ),
    ),  # the real thing needs RabbitMQ 4.3; Basic.Cancel itself comes with every deleted queue
    "a queue deleted under its consumer": (
        (_SERVICES, "test_a_queue_is_deleted_while_it_is_consumed"),
        (_RECOVERY, "test_a_queue_deleted_under_its_consumer_is_declared_and_consumed_again"),
    ),
    "a queue that exists with other arguments": (
        (_TOPOLOGY, "test_other_arguments_stop_with_both_sets_and_change_nothing"),
        ("integration/test_cli_doctor.py", "test_a_queue_with_other_arguments_is_named"),
    ),
    "the disk alarm": ((_BROKER, "test_an_alarm_holds_back_new_messages_only"),),
    "the memory alarm": (
        (_BROKER, "test_an_alarm_holds_back_new_messages_only"),
        (_PUBLISH, "test_an_alarm_blocks_publishers_only_and_says_so"),
    ),
    "a route unbound": (
        (_BROKER, "test_a_lane_that_nothing_leads_to_any_more"),
        ("contract/test_broker_publish.py", "test_a_key_that_no_queue_wants_is_unroutable"),
        (_REPAIR, "test_what_nobody_takes_does_not_hide_newer_messages"),
    ),
    "a full queue that rejects": ((_BROKER, "test_a_queue_that_is_full"), (_PUBLISH, "test_a_full_queue_says_nack")),
    "the exchange of dead letters deleted": ((_BROKER, "test_the_exchange_of_dead_letters_is_deleted"),),
    "a delay queue deleted with its messages": ((_SERVICES, "test_a_delay_queue_is_deleted_with_its_messages"),),
    "messages deleted by a stranger's hand": (
        ("faults/test_lost_messages.py", "test_ten_of_a_thousand_messages_are_deleted"),
    ),
    "retries with a forged x-death": ((_TOPOLOGY, "test_a_forged_history_does_not_make_the_broker_drop_a_retry"),),
    "dead letters looked at again and again": ((_CRASH, "test_looking_at_dead_letters_takes_none_away"),),
    "a quorum dead-letter queue with a delivery limit": (
        (_BROKER, "test_a_dead_letter_queue_that_throws_letters_away_is_refused"),
    ),
    # ----------------------------------------------------------------------------------------------------- Redis
    "kill -9 of Redis with everysec: it forgets the last moments": (
        ("contract/test_store_rollback.py", "test_the_end_of_a_forgotten_claim_is_recorded"),
        (_REPAIR, "test_a_claim_that_redis_has_forgotten_stands"),
    ),
    "Redis comes back empty (FLUSHALL, a lost disk, a replica without data)": (
        ("faults/test_store_lost.py", "test_after_a_loss_nothing_runs_twice_that_may_not_and_a_pause_holds"),
        ("faults/test_store_lost.py", "test_who_knew_the_store_before_it_was_emptied_says_so_once"),
        (
            "integration/test_engine_lost_records.py",
            "test_a_running_task_whose_record_is_wiped_goes_on_and_its_end_is_recorded",
        ),
        ("integration/test_engine_lost_records.py", "test_what_may_not_run_twice_is_held_when_its_record_was_wiped"),
    ),
    "Redis stands still for longer than a lease": (
        (_SERVICES, "test_redis_stands_still_for_longer_than_a_lease"),
        (_LINK, "test_a_machine_cut_off_for_longer_than_its_lease"),
    ),
    "a worker that reaches the broker only": (
        (_LINK, "test_a_worker_that_reaches_only_the_broker_leaves_the_work_to_others"),
    ),
    "a reply lost after its script was applied": (
        (_LINK, "test_replies_of_redis_are_lost_again_and_again"),
        ("integration/test_engine_lost_records.py", "test_a_worker_knows_its_own_claim_when_the_reply_was_lost"),
    ),
    "Redis away when a task ends, and its worker killed": (
        ("faults/test_spool.py", "test_an_outcome_outlives_redis_and_its_worker"),
    ),
    "Redis out of memory with noeviction": (
        (_STORE, "test_redis_has_no_memory_left"),
        ("unit/services/store/test_redis_client.py", "test_out_of_memory_changes_nothing_and_says_what_to_do"),
    ),
    "SCRIPT FLUSH under load": (
        ("unit/services/store/test_redis_faults.py", "test_the_script_may_be_forgotten_under_load"),
    ),
    "a failover of Sentinel that loses writes": (
        ("contract/test_store_rollback.py", "test_the_end_of_a_forgotten_claim_is_recorded"),
        ("unit/services/store/test_redis_client.py", "test_a_replica_is_not_written"),
    ),  # a state from before is all that a client sees of it; the election itself needs several nodes
    "Redis as a cluster": ((_STORE, "test_a_redis_cluster_keeps_everything_in_one_slot"),),
    "a worker's clock ten minutes ahead": ((_STORE, "test_the_clock_of_a_worker_is_wrong"),),
    # ------------------------------------------------------------------------------------------- operators, crowds
    "a cancel races with the delivery": ((_RACES, "test_a_cancel_races_with_the_delivery"),),
    "a new priority races with the delivery": ((_RACES, "test_a_new_priority_races_with_the_delivery"),),
    "two consoles republish the same letters": (
        (_CRASH, "test_two_consoles_republish_the_same_letters_at_once"),
        ("contract/test_store_operator.py", "test_republishing_under_a_second_id_is_refused"),
    ),
    "events trimmed past a console": (
        (_LINK, "test_events_trimmed_past_a_console_that_was_away"),
        ("unit/services/monitor/test_live.py", "test_a_gap_is_told"),
    ),
    "a console loses RabbitMQ and Redis ten times": (
        (_LINK, "test_a_console_loses_both_ten_times_and_never_shows_them_as_there"),
        ("gui/test_loss.py", "test_a_loss_shows_banner_and_greys_and_forbids_to_act"),
    ),
    "one shop is hot, the others have a task each": (
        (_RACES, "test_a_shop_with_a_long_row_does_not_keep_the_others_waiting"),
        ("integration/test_engine_shops.py", "test_many_queues_hold_no_more_than_there_are_slots"),
    ),
    "a flood of urgent tasks": (
        ("integration/test_engine_lanes.py", "test_a_flood_of_urgent_tasks_leaves_the_low_lane_running"),
        ("integration/test_engine_preempt.py", "test_one_slot_is_left_to_the_low_lane_and_nobody_makes_way_for_ever"),
    ),
    "an engine imported, then a child started with asyncio, on Windows": (
        "needs Windows; pika below 1.4.2, which changed the loop there, is not allowed by pyproject.toml"
    ),
}
