"""Relay of app-server messages as records of the owning process."""

import json

from termvisor.agents.adapters.codex import server_messages
from termvisor.agents.adapters.codex.server_events import STATUS_REPEAT_NS, CodexEventRelay
from termvisor.model.agent.signal import ProcessHint
from tests.unit.agents.adapters.codex.app_server_messages import (
    ACTIVE_STATUS,
    CHILD_THREAD,
    IDLE_STATUS,
    THREAD,
    WAITING_STATUS,
    build_agent,
    build_started_message,
    build_status_message,
    build_thread,
)

OWN = ProcessHint(pid=7, pid_started=77)
AGENTS = [build_agent()]


def list_methods(records):
    return [json.loads(record.text)["method"] for record in records]


def test_messages_of_a_proven_thread_have_its_process():
    relay = CodexEventRelay()
    (record,) = relay.process_message(build_started_message(), AGENTS, 1)
    assert (record.source, record.hint, record.at) == ("app_server", OWN, 1)
    (record,) = relay.process_message(build_status_message(ACTIVE_STATUS), AGENTS, 2)
    assert json.loads(record.text) == build_status_message(ACTIVE_STATUS)


def test_a_message_of_an_unknown_thread_is_dropped_and_requests_the_thread_list():
    relay = CodexEventRelay()
    assert relay.process_message(build_status_message(ACTIVE_STATUS), AGENTS, 1) == []
    assert relay.needs_thread_list


def test_the_prompt_preview_is_not_in_the_record():
    (record,) = CodexEventRelay().process_message(build_started_message(preview="my secret plan", turns=[1]), AGENTS, 1)
    assert "plan" not in record.text


def test_the_end_of_a_turn_sets_ended_turn():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    relay.process_message(build_status_message(IDLE_STATUS), AGENTS, 2)
    assert relay.ended_turn is None
    relay.process_message(build_status_message(ACTIVE_STATUS), AGENTS, 3)
    assert relay.ended_turn is None
    relay.process_message(build_status_message(IDLE_STATUS), AGENTS, 4)
    assert relay.ended_turn == (THREAD, "completed")
    relay.process_message(build_status_message(ACTIVE_STATUS), AGENTS, 5)
    relay.process_message(build_status_message({"type": "systemError"}), AGENTS, 6)
    assert relay.ended_turn == (THREAD, "failed")


def test_a_listed_thread_is_reported_when_it_changed_or_after_the_repeat_time():
    relay = CodexEventRelay()
    assert list_methods(relay.process_listed_thread(build_thread(), AGENTS, 1)) == [server_messages.THREAD_LISTED]
    assert relay.process_listed_thread(build_thread(), AGENTS, 2) == []
    assert list_methods(relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), AGENTS, 3)) == [
        server_messages.THREAD_LISTED
    ]
    assert relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), AGENTS, STATUS_REPEAT_NS) == []
    assert list_methods(
        relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), AGENTS, STATUS_REPEAT_NS + 3)
    ) == [server_messages.THREAD_LISTED]


def test_a_thread_is_reported_once_its_process_is_known():
    relay = CodexEventRelay()
    assert relay.process_listed_thread(build_thread(), [], 1) == []
    assert list_methods(relay.process_listed_thread(build_thread(), AGENTS, 2)) == [server_messages.THREAD_LISTED]


def test_rate_limits_apply_to_all_reported_processes():
    relay = CodexEventRelay()
    limits = {"method": "account/rateLimits/updated", "params": {"rateLimits": {}}}
    assert relay.process_message(limits, AGENTS, 1) == []
    relay.process_message(build_started_message(), AGENTS, 2)
    assert [record.hint for record in relay.process_message(limits, AGENTS, 3)] == [OWN]


def test_a_sub_agent_is_reported_as_a_task_of_its_parent():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    relay.process_message(build_status_message(ACTIVE_STATUS), AGENTS, 2)
    relay.process_message(build_started_message(CHILD_THREAD, parentThreadId=THREAD), AGENTS, 3)
    (record,) = relay.process_message(build_status_message(ACTIVE_STATUS, CHILD_THREAD), AGENTS, 4)
    assert json.loads(record.text)["params"]["childThreadId"] == CHILD_THREAD
    assert relay.process_message({"method": "turn/started", "params": {"threadId": CHILD_THREAD}}, AGENTS, 5) == []


def test_the_parents_status_is_repeated_after_its_sub_agent_waited():
    relay = CodexEventRelay()
    for message in (
        build_started_message(),
        build_status_message(ACTIVE_STATUS),
        build_started_message(CHILD_THREAD, parentThreadId=THREAD),
        build_status_message(WAITING_STATUS, CHILD_THREAD),
    ):
        relay.process_message(message, AGENTS, 1)
    again = relay.process_message(build_status_message(ACTIVE_STATUS, CHILD_THREAD), AGENTS, 2)
    assert json.loads(again[1].text) == build_status_message(ACTIVE_STATUS)


def test_requests_are_pending_until_they_are_resolved():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    request = {"method": "item/commandExecution/requestApproval", "id": 4, "params": {"threadId": THREAD}}
    relay.process_message(request, AGENTS, 2)
    assert relay.pending_requests == {4: request}
    relay.process_message(
        {"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 4}}, AGENTS, 3
    )
    assert relay.pending_requests == {}


def test_a_lost_connection_is_reported_for_all_and_clears_requests():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    relay.process_message(build_status_message(IDLE_STATUS), AGENTS, 2)
    assert [(record.hint, json.loads(record.text)) for record in relay.process_connection_lost(AGENTS, 3)] == [
        (OWN, {"method": server_messages.CONNECTION_LOST})
    ]
    assert relay.process_connection_lost(AGENTS, 4) == []


def test_the_last_turn_is_reported_with_its_thread():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    assert list_methods(relay.process_last_turn(THREAD, {"status": "failed"}, AGENTS, 2)) == [
        server_messages.TURN_LISTED_METHOD
    ]
    assert relay.process_last_turn(THREAD, {}, AGENTS, 3) == []


def test_irrelevant_messages_are_dropped():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), AGENTS, 1)
    assert relay.process_message({"method": "item/agentMessage/delta", "params": {"threadId": THREAD}}, AGENTS, 2) == []
