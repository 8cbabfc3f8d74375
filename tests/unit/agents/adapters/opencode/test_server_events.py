"""Reduction of opencode server events to state changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.opencode import ADAPTER
from termvisor.agents.adapters.opencode.server_events import (
    CONNECTION_LOST_EVENT,
    HEARTBEAT_EVENT,
    IDLE_EVENT,
    OpencodeEventRelay,
    OpencodeServerState,
    parse_event_time,
)
from tests.unit.agents.adapters.adapter_inputs import read_source_record
from tests.unit.agents.adapters.opencode.recorded_events import NOW, read_recorded_scenes

ME, OTHER, CHILD = "ses_000000000001", "ses_000000000002", "ses_000000000003"
BUSY, IDLE = {"type": "busy"}, {"type": "idle"}


def event(kind: str, session: str = ME, **properties: object) -> dict:
    return {"id": "", "type": kind, "properties": {"sessionID": session, **properties}}


def asks(name: str, session: str = ME, **metadata: str) -> dict:
    return event("permission.asked", session, id=name, permission="bash", patterns=["x"], metadata=metadata)


def replied(name: str, session: str = ME, reply: str = "once") -> dict:
    return event("permission.replied", session, requestID=name, reply=reply)


def answered(session: str = ME, **more: object) -> dict:
    about = {"id": f"msg_{session}", "role": "assistant", "sessionID": session, "time": {"created": 1, "completed": 2}}
    return event("message.updated", session, info=about | more)


def child(session: str = CHILD, parent: str = ME) -> dict:
    return event("session.created", session, info={"id": session, "parentID": parent, "title": "a part"})


def states(*events: dict, relay: OpencodeEventRelay | None = None) -> list[str]:
    """What the adapter makes of them: states, or kinds of what is none."""
    one = relay or OpencodeEventRelay()
    words = [word for said in events for word in one.process_event(said, NOW)]
    found = [signal for word in words for signal in read_source_record(ADAPTER, "server", word.json_text)]
    return [signal.state or signal.kind for signal in found]


def test_recorded_events_give_the_expected_states():
    relay = OpencodeEventRelay()
    told = {
        name: [one for one in states(*events, relay=relay) if one != "note"] for name, events in read_recorded_scenes()
    }
    assert {name: found for name, found in told.items() if found} == {
        "text": ["running"],
        "shell": ["waiting_approval"],
        "approve": ["running", "completed"],
        "deny": ["running", "waiting_approval", "running", "idle"],
        "prompt_async": ["running"],
        "abort": ["idle", "idle"],
        "after new": ["running", "completed"],
        "question": ["running", "waiting_input", "running", "idle"],
        "401": ["running", "error", "error"],
        "write": ["running", "waiting_approval", "running", "idle"],
        "task": ["running", "waiting_approval", "running", "idle"],
        "compact": ["running", "running", "completed"],
    }
    assert (relay.statuses, relay.permissions, relay.questions) == ({}, {}, {})


def test_file_contents_are_not_reported():
    secret = "the text of a file"
    words = OpencodeEventRelay().process_event(asks("per_1", command="touch x", diff=secret, filepath="/a"), NOW)
    assert secret not in words[0].json_text
    assert json.loads(words[0].json_text)["payload"]["metadata"] == {"command": "touch x", "filepath": "/a"}


def test_of_two_that_wait_the_second_waits_on_when_the_first_is_answered():
    busy = event("session.status", status=BUSY)
    told = states(busy, asks("per_1"), asks("per_2"), replied("per_1"), replied("per_2"))
    assert told == ["running", "waiting_approval", "waiting_approval", "waiting_approval", "running"]


def test_the_work_of_one_session_hides_neither_the_wait_nor_the_end_of_another():
    relay = OpencodeEventRelay()
    assert states(event("session.status", status=BUSY), asks("per_1"), relay=relay)[-1] == "waiting_approval"
    assert states(event("session.status", OTHER, status=BUSY), relay=relay) == ["waiting_approval"]
    assert states(replied("per_1"), relay=relay) == ["running"]
    assert states(answered(), event("session.idle"), relay=relay) == ["running"], "the other works on"
    assert states(answered(OTHER), event("session.idle", OTHER), relay=relay) == ["completed"]


def test_a_turn_that_ends_takes_its_questions_with_it():
    relay = OpencodeEventRelay()
    states(child(), event("session.status", status=BUSY), asks("per_1"), asks("per_2", CHILD), relay=relay)
    assert states(event("session.idle"), relay=relay) == ["idle"]
    assert relay.permissions == {}


def test_a_turn_without_an_answer_was_stopped():
    busy = event("session.status", status=BUSY)
    assert states(busy, event("session.idle")) == ["running", "idle"]
    assert states(busy, answered(), event("session.idle")) == ["running", "completed"]
    assert states(answered(), busy, event("session.idle")) == ["running", "idle"], "that was the turn before"
    relay = OpencodeEventRelay()
    states(busy, answered(), event("session.idle"), relay=relay)
    relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}))
    assert states(event("session.idle"), relay=relay) == ["idle"], "so was that"


def test_a_repeated_or_aborted_message_does_not_answer_the_turn():
    busy, relay = event("session.status", status=BUSY), OpencodeEventRelay()
    assert states(busy, answered(), event("session.idle"), relay=relay) == ["running", "completed"]
    assert states(busy, answered(), event("session.idle"), relay=relay) == ["running", "idle"], "told again"
    broken = answered(id="msg_2", error={"name": "MessageAbortedError"})
    assert states(busy, broken, event("session.idle"), relay=relay) == ["running", "idle"]
    assert states(busy, answered(id="msg_3"), event("session.idle"), relay=relay) == ["running", "completed"]


def test_a_sub_agent_is_a_task_and_what_it_asks_is_asked_by_the_agent():
    relay = OpencodeEventRelay()
    began = event("session.status", CHILD, status=BUSY)
    assert states(child(), event("session.status", status=BUSY), began, relay=relay) == ["running", "task_began"]
    assert relay.busy_sessions == [ME]
    assert states(asks("per_1", CHILD), replied("per_1", CHILD), relay=relay) == ["waiting_approval", "running"]
    assert states(event("session.idle", CHILD), relay=relay) == ["task_ended"]


def test_a_retry_that_is_stopped_was_no_end():
    retry = event("session.status", status={"type": "retry", "attempt": 2, "message": "usage limit reached"})
    assert states(event("session.status", status=BUSY), retry, event("session.idle")) == ["running", "running", "idle"]


def test_lists_tell_what_is_true_now_and_then_only_what_changed():
    relay = OpencodeEventRelay()
    assert [word.event for word in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]
    assert [word.event for word in relay.process_server_state(OpencodeServerState())] == [HEARTBEAT_EVENT]
    busy = OpencodeServerState(statuses={ME: BUSY, OTHER: IDLE}, sessions=[{"id": ME, "title": "Mend"}])
    assert [word.event for word in relay.process_server_state(busy)] == ["session.status"]
    assert (relay.busy_sessions, relay.titles) == ([ME], {ME: "Mend"})
    asked = asks("per_1")["properties"]
    assert [
        word.event for word in relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}, permissions=[asked]))
    ] == ["permission.asked"]
    assert relay.is_unreported_end(OpencodeServerState())
    assert relay.is_unreported_end(OpencodeServerState(statuses={ME: IDLE}))
    assert not relay.is_unreported_end(busy)
    assert [word.event for word in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]


def test_a_lost_connection_is_reported_once_and_resets_the_state():
    relay = OpencodeEventRelay()
    assert relay.process_connection_lost() == []
    relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}))
    assert [word.event for word in relay.process_connection_lost()] == [CONNECTION_LOST_EVENT]
    assert (relay.process_connection_lost(), relay.busy_sessions) == ([], [])
    assert [word.event for word in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (IDLE_EVENT, ("state", "idle")),
        (HEARTBEAT_EVENT, ("heartbeat", None)),
        (CONNECTION_LOST_EVENT, ("source_down", None)),
    ],
)
def test_our_own_words_are_understood(event, expected):
    (said,) = read_source_record(ADAPTER, "server", json.dumps({"event": event, "at": 0, "payload": {}}))
    assert (said.kind, said.state) == expected


def test_an_id_tells_the_millisecond():
    now = 1_794_823_362_999
    assert parse_event_time("evt_1e3cf19640019IAvXEoQ4eeL93", now) == 1_794_823_362_916
    assert [parse_event_time(name, now) for name in ("", "evt_", "evt_zzzzzzzzz001", "evt_000000000001x")] == [
        0,
        0,
        0,
        0,
    ]


def test_sessions_without_end_are_not_all_remembered():
    relay = OpencodeEventRelay()
    for number in range(3000):
        states(event("session.updated", info={"id": f"ses_{number}", "title": "x"}), relay=relay)
    assert len(relay.titles) == 2000
    states(event("session.deleted", info={"id": "ses_2999"}), relay=relay)
    assert "ses_2999" not in relay.titles


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KINDS = ("session.created", "session.status", "session.idle", "session.error", "session.deleted", "permission.asked")
_KINDS += ("permission.replied", "question.asked", "question.rejected", "message.updated", "server.instance.disposed")
_FIELDS = ("sessionID", "id", "info", "status", "error", "requestID", "questions", "metadata")
_EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(_KINDS)},
    optional={"id": st.text(max_size=14), "properties": st.dictionaries(st.sampled_from(_FIELDS), _JSON)},
)


@given(events=st.lists(_EVENT, max_size=8))
def test_any_event_gives_one_signal_or_none(events):
    relay = OpencodeEventRelay()
    for one in events:
        for word in relay.process_event(one, NOW):
            assert [signal.agent for signal in read_source_record(ADAPTER, "server", word.json_text)] in (
                [],
                ["opencode"],
            )
