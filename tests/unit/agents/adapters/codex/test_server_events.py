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
FACES = [build_agent()]


def methods(records):
    return [json.loads(record.text)["method"] for record in records]


def test_messages_of_a_proven_thread_have_its_process():
    relay = CodexEventRelay()
    (record,) = relay.process_message(build_started_message(), FACES, 1)
    assert (record.source, record.hint, record.at) == ("app_server", OWN, 1)
    (record,) = relay.process_message(build_status_message(ACTIVE_STATUS), FACES, 2)
    assert json.loads(record.text) == build_status_message(ACTIVE_STATUS)


def test_a_stranger_is_not_handed_on_but_asked_for():
    relay = CodexEventRelay()
    assert relay.process_message(build_status_message(ACTIVE_STATUS), FACES, 1) == []
    assert relay.needs_thread_list


def test_what_a_person_wrote_stays_where_it_is():
    (record,) = CodexEventRelay().process_message(build_started_message(preview="my secret plan", turns=[1]), FACES, 1)
    assert "plan" not in record.text


def test_the_end_of_work_is_worth_a_question():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    relay.process_message(build_status_message(IDLE_STATUS), FACES, 2)
    assert relay.ended_turn is None
    relay.process_message(build_status_message(ACTIVE_STATUS), FACES, 3)
    assert relay.ended_turn is None
    relay.process_message(build_status_message(IDLE_STATUS), FACES, 4)
    assert relay.ended_turn == (THREAD, "completed")
    relay.process_message(build_status_message(ACTIVE_STATUS), FACES, 5)
    relay.process_message(build_status_message({"type": "systemError"}), FACES, 6)
    assert relay.ended_turn == (THREAD, "failed")


def test_a_list_tells_only_what_is_new():
    relay = CodexEventRelay()
    assert methods(relay.process_listed_thread(build_thread(), FACES, 1)) == [server_messages.THREAD_LISTED]
    assert relay.process_listed_thread(build_thread(), FACES, 2) == []
    assert methods(relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), FACES, 3)) == [
        server_messages.THREAD_LISTED
    ]
    assert relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), FACES, STATUS_REPEAT_NS) == []
    assert methods(relay.process_listed_thread(build_thread(status=ACTIVE_STATUS), FACES, STATUS_REPEAT_NS + 3)) == [
        server_messages.THREAD_LISTED
    ]


def test_a_thread_is_reported_once_its_process_is_known():
    relay = CodexEventRelay()
    assert relay.process_listed_thread(build_thread(), [], 1) == []
    assert methods(relay.process_listed_thread(build_thread(), FACES, 2)) == [server_messages.THREAD_LISTED]


def test_rate_limits_apply_to_all_reported_processes():
    relay = CodexEventRelay()
    limits = {"method": "account/rateLimits/updated", "params": {"rateLimits": {}}}
    assert relay.process_message(limits, FACES, 1) == []
    relay.process_message(build_started_message(), FACES, 2)
    assert [record.hint for record in relay.process_message(limits, FACES, 3)] == [OWN]


def test_a_sub_agent_is_reported_as_a_task_of_its_parent():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    relay.process_message(build_status_message(ACTIVE_STATUS), FACES, 2)
    relay.process_message(build_started_message(CHILD_THREAD, parentThreadId=THREAD), FACES, 3)
    (record,) = relay.process_message(build_status_message(ACTIVE_STATUS, CHILD_THREAD), FACES, 4)
    assert json.loads(record.text)["params"]["childThreadId"] == CHILD_THREAD
    assert relay.process_message({"method": "turn/started", "params": {"threadId": CHILD_THREAD}}, FACES, 5) == []


def test_the_parents_status_is_repeated_after_its_sub_agent_waited():
    relay = CodexEventRelay()
    for message in (
        build_started_message(),
        build_status_message(ACTIVE_STATUS),
        build_started_message(CHILD_THREAD, parentThreadId=THREAD),
        build_status_message(WAITING_STATUS, CHILD_THREAD),
    ):
        relay.process_message(message, FACES, 1)
    again = relay.process_message(build_status_message(ACTIVE_STATUS, CHILD_THREAD), FACES, 2)
    assert json.loads(again[1].text) == build_status_message(ACTIVE_STATUS)


def test_requests_wait_until_they_are_resolved():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    asked = {"method": "item/commandExecution/requestApproval", "id": 4, "params": {"threadId": THREAD}}
    relay.process_message(asked, FACES, 2)
    assert relay.pending_requests == {4: asked}
    relay.process_message(
        {"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 4}}, FACES, 3
    )
    assert relay.pending_requests == {}


def test_a_lost_connection_is_reported_for_all_and_clears_requests():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    relay.process_message(build_status_message(IDLE_STATUS), FACES, 2)
    assert [(record.hint, json.loads(record.text)) for record in relay.process_connection_lost(FACES, 3)] == [
        (OWN, {"method": server_messages.CONNECTION_LOST})
    ]
    assert relay.process_connection_lost(FACES, 4) == []


def test_the_last_turn_is_reported_with_its_thread():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    assert methods(relay.process_last_turn(THREAD, {"status": "failed"}, FACES, 2)) == [
        server_messages.TURN_LISTED_METHOD
    ]
    assert relay.process_last_turn(THREAD, {}, FACES, 3) == []


def test_chatter_is_left_out():
    relay = CodexEventRelay()
    relay.process_message(build_started_message(), FACES, 1)
    assert relay.process_message({"method": "item/agentMessage/delta", "params": {"threadId": THREAD}}, FACES, 2) == []
