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


def build_event(kind: str, session: str = ME, **properties: object) -> dict:
    return {"id": "", "type": kind, "properties": {"sessionID": session, **properties}}


def build_permission_event(name: str, session: str = ME, **metadata: str) -> dict:
    return build_event("permission.asked", session, id=name, permission="bash", patterns=["x"], metadata=metadata)


def build_reply_event(name: str, session: str = ME, reply: str = "once") -> dict:
    return build_event("permission.replied", session, requestID=name, reply=reply)


def build_answer_event(session: str = ME, **more: object) -> dict:
    info = {"id": f"msg_{session}", "role": "assistant", "sessionID": session, "time": {"created": 1, "completed": 2}}
    return build_event("message.updated", session, info=info | more)


def build_child_event(session: str = CHILD, parent: str = ME) -> dict:
    return build_event("session.created", session, info={"id": session, "parentID": parent, "title": "a part"})


def read_states(*events: dict, relay: OpencodeEventRelay | None = None) -> list[str]:
    """Return the state of each signal that the adapter reads, or its kind if it has no state."""
    one = relay or OpencodeEventRelay()
    records = [record for event in events for record in one.process_event(event, NOW)]
    found = [signal for record in records for signal in read_source_record(ADAPTER, "server", record.json_text)]
    return [signal.state or signal.kind for signal in found]


def test_recorded_events_give_the_expected_states():
    relay = OpencodeEventRelay()
    states = {
        name: [one for one in read_states(*events, relay=relay) if one != "note"]
        for name, events in read_recorded_scenes()
    }
    assert {name: found for name, found in states.items() if found} == {
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
    records = OpencodeEventRelay().process_event(
        build_permission_event("per_1", command="touch x", diff=secret, filepath="/a"), NOW
    )
    assert secret not in records[0].json_text
    assert json.loads(records[0].json_text)["payload"]["metadata"] == {"command": "touch x", "filepath": "/a"}


def test_the_second_of_two_requests_still_waits_when_the_first_is_answered():
    busy = build_event("session.status", status=BUSY)
    states = read_states(
        busy,
        build_permission_event("per_1"),
        build_permission_event("per_2"),
        build_reply_event("per_1"),
        build_reply_event("per_2"),
    )
    assert states == ["running", "waiting_approval", "waiting_approval", "waiting_approval", "running"]


def test_a_busy_session_hides_neither_the_request_nor_the_end_of_another():
    relay = OpencodeEventRelay()
    assert (
        read_states(build_event("session.status", status=BUSY), build_permission_event("per_1"), relay=relay)[-1]
        == "waiting_approval"
    )
    assert read_states(build_event("session.status", OTHER, status=BUSY), relay=relay) == ["waiting_approval"]
    assert read_states(build_reply_event("per_1"), relay=relay) == ["running"]
    assert read_states(build_answer_event(), build_event("session.idle"), relay=relay) == ["running"], (
        "the other session is still busy"
    )
    assert read_states(build_answer_event(OTHER), build_event("session.idle", OTHER), relay=relay) == ["completed"]


def test_the_end_of_a_turn_clears_its_requests():
    relay = OpencodeEventRelay()
    read_states(
        build_child_event(),
        build_event("session.status", status=BUSY),
        build_permission_event("per_1"),
        build_permission_event("per_2", CHILD),
        relay=relay,
    )
    assert read_states(build_event("session.idle"), relay=relay) == ["idle"]
    assert relay.permissions == {}


def test_a_turn_that_ends_without_an_answer_is_idle():
    busy = build_event("session.status", status=BUSY)
    assert read_states(busy, build_event("session.idle")) == ["running", "idle"]
    assert read_states(busy, build_answer_event(), build_event("session.idle")) == ["running", "completed"]
    assert read_states(build_answer_event(), busy, build_event("session.idle")) == ["running", "idle"], (
        "the answer belongs to the turn before"
    )
    relay = OpencodeEventRelay()
    read_states(busy, build_answer_event(), build_event("session.idle"), relay=relay)
    relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}))
    assert read_states(build_event("session.idle"), relay=relay) == ["idle"], "the answer belongs to the turn before"


def test_a_repeated_or_aborted_message_does_not_answer_the_turn():
    busy, relay = build_event("session.status", status=BUSY), OpencodeEventRelay()
    assert read_states(busy, build_answer_event(), build_event("session.idle"), relay=relay) == ["running", "completed"]
    assert read_states(busy, build_answer_event(), build_event("session.idle"), relay=relay) == ["running", "idle"], (
        "the message is a repetition"
    )
    broken = build_answer_event(id="msg_2", error={"name": "MessageAbortedError"})
    assert read_states(busy, broken, build_event("session.idle"), relay=relay) == ["running", "idle"]
    assert read_states(busy, build_answer_event(id="msg_3"), build_event("session.idle"), relay=relay) == [
        "running",
        "completed",
    ]


def test_a_sub_agent_is_a_task_and_its_permission_request_is_that_of_the_agent():
    relay = OpencodeEventRelay()
    began = build_event("session.status", CHILD, status=BUSY)
    assert read_states(build_child_event(), build_event("session.status", status=BUSY), began, relay=relay) == [
        "running",
        "task_began",
    ]
    assert relay.busy_sessions == [ME]
    assert read_states(build_permission_event("per_1", CHILD), build_reply_event("per_1", CHILD), relay=relay) == [
        "waiting_approval",
        "running",
    ]
    assert read_states(build_event("session.idle", CHILD), relay=relay) == ["task_ended"]


def test_a_stopped_retry_is_idle():
    retry = build_event("session.status", status={"type": "retry", "attempt": 2, "message": "usage limit reached"})
    assert read_states(build_event("session.status", status=BUSY), retry, build_event("session.idle")) == [
        "running",
        "running",
        "idle",
    ]


def test_the_first_list_is_reported_and_later_only_changes():
    relay = OpencodeEventRelay()
    assert [record.event for record in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]
    assert [record.event for record in relay.process_server_state(OpencodeServerState())] == [HEARTBEAT_EVENT]
    busy = OpencodeServerState(statuses={ME: BUSY, OTHER: IDLE}, sessions=[{"id": ME, "title": "Mend"}])
    assert [record.event for record in relay.process_server_state(busy)] == ["session.status"]
    assert (relay.busy_sessions, relay.titles) == ([ME], {ME: "Mend"})
    permission = build_permission_event("per_1")["properties"]
    assert [
        record.event
        for record in relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}, permissions=[permission]))
    ] == ["permission.asked"]
    assert relay.is_unreported_end(OpencodeServerState())
    assert relay.is_unreported_end(OpencodeServerState(statuses={ME: IDLE}))
    assert not relay.is_unreported_end(busy)
    assert [record.event for record in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]


def test_a_lost_connection_is_reported_once_and_resets_the_state():
    relay = OpencodeEventRelay()
    assert relay.process_connection_lost() == []
    relay.process_server_state(OpencodeServerState(statuses={ME: BUSY}))
    assert [record.event for record in relay.process_connection_lost()] == [CONNECTION_LOST_EVENT]
    assert (relay.process_connection_lost(), relay.busy_sessions) == ([], [])
    assert [record.event for record in relay.process_server_state(OpencodeServerState())] == [IDLE_EVENT]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (IDLE_EVENT, ("state", "idle")),
        (HEARTBEAT_EVENT, ("heartbeat", None)),
        (CONNECTION_LOST_EVENT, ("source_down", None)),
    ],
)
def test_events_of_the_relay_have_their_signal(name, expected):
    (signal,) = read_source_record(ADAPTER, "server", json.dumps({"event": name, "at": 0, "payload": {}}))
    assert (signal.kind, signal.state) == expected


def test_the_event_time_is_parsed_from_the_id():
    now = 1_794_823_362_999
    assert parse_event_time("evt_1e3cf19640019IAvXEoQ4eeL93", now) == 1_794_823_362_916
    assert [parse_event_time(name, now) for name in ("", "evt_", "evt_zzzzzzzzz001", "evt_000000000001x")] == [
        0,
        0,
        0,
        0,
    ]


def test_the_number_of_remembered_sessions_is_bounded():
    relay = OpencodeEventRelay()
    for number in range(3000):
        read_states(build_event("session.updated", info={"id": f"ses_{number}", "title": "x"}), relay=relay)
    assert len(relay.titles) == 2000
    read_states(build_event("session.deleted", info={"id": "ses_2999"}), relay=relay)
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
        for record in relay.process_event(one, NOW):
            assert [signal.agent for signal in read_source_record(ADAPTER, "server", record.json_text)] in (
                [],
                ["opencode"],
            )
