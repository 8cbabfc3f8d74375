"""Events of the opencode plugin."""

from pathlib import Path

import pytest

from termvisor.agents.adapters import opencode
from termvisor.agents.adapters.opencode import ADAPTER
from termvisor.agents.adapters.opencode.hooks import EVENT_INTERPRETERS
from tests.unit.agents.adapters.adapter_inputs import read_hook, read_hook_signal, read_source_record

ME, CHILD = "ses_000000000001", "ses_000000000002"
ABORTED = {"error": {"name": "MessageAbortedError", "message": "Aborted"}}
REFUSED = {"error": {"name": "APIError", "message": "Incorrect API key provided.", "status": 401}}


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        ("plugin.loaded", {}, "idle"),
        ("session.status", {"status": {"type": "busy"}}, "running"),
        ("session.status", {"status": {"type": "retry", "attempt": 1, "message": "overloaded"}}, "running"),
        ("permission.asked", {"id": "per_1", "permission": "bash"}, "waiting_approval"),
        ("permission.replied", {"reply": "once"}, "running"),
        ("question.asked", {"questions": [{"question": "Which?"}]}, "waiting_input"),
        ("question.rejected", {}, "running"),
        ("session.error", ABORTED, "idle"),
        ("session.error", REFUSED, "error"),
        ("session.idle", {"turn": {}}, "completed"),
        ("session.idle", {"turn": ABORTED}, "idle"),
        ("session.idle", {"turn": REFUSED}, "error"),
        ("session.idle", {"turn": {"rejected": True}}, "idle"),
        ("message.updated", {"compacting": True}, "running"),
    ],
)
def test_an_event_gives_a_state(event, payload, expected):
    signal = read_hook_signal(ADAPTER, event, sessionID=ME, **payload)
    assert (signal.state, signal.session) == (expected, ME)


def test_a_retried_usage_limit_is_running_with_its_flag():
    signal = read_hook_signal(
        ADAPTER, "session.status", status={"type": "retry", "message": "The usage limit has been reached"}
    )
    assert (signal.state, signal.flags.usage_limited, signal.payload["error"]) == ("running", True, "usage_limit")


def test_a_refused_login_sets_auth_needed():
    assert read_hook_signal(ADAPTER, "session.error", **REFUSED).flags.auth_needed is True


def test_a_permission_request_has_its_id_and_command():
    signal = read_hook_signal(
        ADAPTER, "permission.asked", id="per_9", permission="bash", metadata={"command": "touch x"}
    )
    assert (signal.payload["request"], signal.payload["command"]) == ("per_9", "touch x")


def test_a_session_update_has_title_usage_and_cost():
    tokens = {"input": 1500, "output": 25, "reasoning": 5, "cache": {"read": 7}}
    signal = read_hook_signal(
        ADAPTER, "session.updated", title="Mend the parser", tokens=tokens, cost=0.5, model="m", version="1"
    )
    assert (signal.kind, signal.title) == ("note", "Mend the parser")
    assert {**signal.payload}.items() >= {"input": 1500, "cached": 7, "total": 1530, "cost": 0.5, "model": "m"}.items()
    assert read_hook_signal(ADAPTER, "session.created", title="New session - 2026-11-16T04:27:27.271Z").title is None


def test_a_sub_agent_is_a_task_and_its_permission_request_is_that_of_the_agent():
    fields = {"sessionID": CHILD, "parent": ME}
    began = read_hook_signal(ADAPTER, "session.status", status={"type": "busy"}, **fields)
    ended = read_hook_signal(ADAPTER, "session.idle", **fields)
    requested = read_hook_signal(ADAPTER, "permission.asked", id="per_1", permission="bash", **fields)
    assert (began.kind, began.task, began.session) == ("task_began", CHILD, ME)
    assert (ended.kind, ended.task) == ("task_ended", CHILD)
    assert (requested.state, requested.session) == ("waiting_approval", ME)
    assert read_hook(ADAPTER, "session.updated", title="a part", **fields) is None


def test_compaction_events_set_and_clear_the_compacting_flag():
    assert read_hook_signal(ADAPTER, "message.updated", compacting=True).flags.compacting is True
    assert read_hook_signal(ADAPTER, "session.compacted").flags.compacting is False
    assert read_hook(ADAPTER, "message.updated", role="user") is None


def test_unknown_events_give_no_signal_and_a_malformed_line_is_unsupported():
    assert read_hook(ADAPTER, "session.diff") is None
    assert read_hook(ADAPTER, "session.status", status={"type": "asleep"}) is None
    assert read_source_record(ADAPTER, "hook", "]")[0].reason == "unsupported_signal"
    assert read_source_record(ADAPTER, "screen", "{}") == []


def test_the_plugin_reports_every_event_that_has_an_interpreter():
    plugin = (Path(opencode.__file__).parent / "plugin.js").read_text()
    assert [event for event in EVENT_INTERPRETERS if f'"{event}"' not in plugin] == []
