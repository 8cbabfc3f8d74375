import json

from termvisor.agents.adapters.codex import server_messages as server
from termvisor.agents.adapters.codex.server_events import AGAIN, Relay
from termvisor.model.agent.signal import Hint
from tests.unit.agents.adapters.codex.server_words import (
    ACTIVE,
    ASKS,
    CHILD,
    IDLE,
    THREAD,
    changed,
    face,
    started,
    thread,
)

OWN = Hint(pid=7, pid_started=77)
FACES = [face()]


def methods(records):
    return [json.loads(record.text)["method"] for record in records]


def test_what_is_told_of_a_proven_thread_is_handed_on_with_its_process():
    relay = Relay()
    (record,) = relay.take(started(), FACES, 1)
    assert (record.source, record.hint, record.at) == ("app_server", OWN, 1)
    (record,) = relay.take(changed(ACTIVE), FACES, 2)
    assert json.loads(record.text) == changed(ACTIVE)


def test_a_stranger_is_not_handed_on_but_asked_for():
    relay = Relay()
    assert relay.take(changed(ACTIVE), FACES, 1) == []
    assert relay.is_puzzled


def test_what_a_person_wrote_stays_where_it_is():
    (record,) = Relay().take(started(preview="my secret plan", turns=[1]), FACES, 1)
    assert "plan" not in record.text


def test_the_end_of_work_is_worth_a_question():
    relay = Relay()
    relay.take(started(), FACES, 1)
    relay.take(changed(IDLE), FACES, 2)
    assert relay.ended is None
    relay.take(changed(ACTIVE), FACES, 3)
    assert relay.ended is None
    relay.take(changed(IDLE), FACES, 4)
    assert relay.ended == (THREAD, "completed")
    relay.take(changed(ACTIVE), FACES, 5)
    relay.take(changed({"type": "systemError"}), FACES, 6)
    assert relay.ended == (THREAD, "failed")


def test_a_list_tells_only_what_is_new():
    relay = Relay()
    assert methods(relay.listed(thread(), FACES, 1)) == [server.LISTED]
    assert relay.listed(thread(), FACES, 2) == []
    assert methods(relay.listed(thread(status=ACTIVE), FACES, 3)) == [server.LISTED]
    assert relay.listed(thread(status=ACTIVE), FACES, AGAIN) == []
    assert methods(relay.listed(thread(status=ACTIVE), FACES, AGAIN + 3)) == [server.LISTED]


def test_a_thread_whose_process_comes_later_is_told_then():
    relay = Relay()
    assert relay.listed(thread(), [], 1) == []
    assert methods(relay.listed(thread(), FACES, 2)) == [server.LISTED]


def test_limits_concern_all_whose_threads_were_told():
    relay = Relay()
    limits = {"method": "account/rateLimits/updated", "params": {"rateLimits": {}}}
    assert relay.take(limits, FACES, 1) == []
    relay.take(started(), FACES, 2)
    assert [record.hint for record in relay.take(limits, FACES, 3)] == [OWN]


def test_a_sub_agent_is_told_as_a_task_of_its_parent():
    relay = Relay()
    relay.take(started(), FACES, 1)
    relay.take(changed(ACTIVE), FACES, 2)
    relay.take(started(CHILD, parentThreadId=THREAD), FACES, 3)
    (record,) = relay.take(changed(ACTIVE, CHILD), FACES, 4)
    assert json.loads(record.text)["params"]["childThreadId"] == CHILD
    assert relay.take({"method": "turn/started", "params": {"threadId": CHILD}}, FACES, 5) == []


def test_when_a_sub_agent_has_its_answer_its_parent_is_told_once_more():
    relay = Relay()
    for message in (started(), changed(ACTIVE), started(CHILD, parentThreadId=THREAD), changed(ASKS, CHILD)):
        relay.take(message, FACES, 1)
    again = relay.take(changed(ACTIVE, CHILD), FACES, 2)
    assert json.loads(again[1].text) == changed(ACTIVE)


def test_requests_wait_until_they_are_resolved():
    relay = Relay()
    relay.take(started(), FACES, 1)
    asked = {"method": "item/commandExecution/requestApproval", "id": 4, "params": {"threadId": THREAD}}
    relay.take(asked, FACES, 2)
    assert relay.requests == {4: asked}
    relay.take({"method": "serverRequest/resolved", "params": {"threadId": THREAD, "requestId": 4}}, FACES, 3)
    assert relay.requests == {}


def test_the_loss_of_the_server_is_told_to_all_and_forgets_what_was_asked():
    relay = Relay()
    relay.take(started(), FACES, 1)
    relay.take(changed(IDLE), FACES, 2)
    assert [(record.hint, json.loads(record.text)) for record in relay.lost(FACES, 3)] == [
        (OWN, {"method": server.LOST})
    ]
    assert relay.lost(FACES, 4) == []


def test_the_last_turn_is_told_with_the_thread():
    relay = Relay()
    relay.take(started(), FACES, 1)
    assert methods(relay.turn(THREAD, {"status": "failed"}, FACES, 2)) == [server.TURN_LISTED]
    assert relay.turn(THREAD, {}, FACES, 3) == []


def test_chatter_is_left_out():
    relay = Relay()
    relay.take(started(), FACES, 1)
    assert relay.take({"method": "item/agentMessage/delta", "params": {"threadId": THREAD}}, FACES, 2) == []
