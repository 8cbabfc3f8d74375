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
def test_an_event_tells_a_state(event, payload, expected):
    said = read_hook_signal(ADAPTER, event, sessionID=ME, **payload)
    assert (said.state, said.session) == (expected, ME)


def test_a_limit_is_retried_and_the_flag_says_so():
    said = read_hook_signal(
        ADAPTER, "session.status", status={"type": "retry", "message": "The usage limit has been reached"}
    )
    assert (said.state, said.flags.usage_limited, said.payload["error"]) == ("running", True, "usage_limit")


def test_a_login_that_is_refused_is_a_flag():
    assert read_hook_signal(ADAPTER, "session.error", **REFUSED).flags.auth_needed is True


def test_a_question_can_be_answered_by_its_id():
    said = read_hook_signal(ADAPTER, "permission.asked", id="per_9", permission="bash", metadata={"command": "touch x"})
    assert (said.payload["request"], said.payload["command"]) == ("per_9", "touch x")


def test_a_session_tells_its_name_and_its_account():
    tokens = {"input": 1500, "output": 25, "reasoning": 5, "cache": {"read": 7}}
    said = read_hook_signal(
        ADAPTER, "session.updated", title="Mend the parser", tokens=tokens, cost=0.5, model="m", version="1"
    )
    assert (said.kind, said.title) == ("note", "Mend the parser")
    assert {**said.payload}.items() >= {"input": 1500, "cached": 7, "total": 1530, "cost": 0.5, "model": "m"}.items()
    assert read_hook_signal(ADAPTER, "session.created", title="New session - 2026-11-16T04:27:27.271Z").title is None


def test_a_sub_agent_is_a_task_but_its_questions_are_the_agents():
    about = {"sessionID": CHILD, "parent": ME}
    began = read_hook_signal(ADAPTER, "session.status", status={"type": "busy"}, **about)
    ended = read_hook_signal(ADAPTER, "session.idle", **about)
    asked = read_hook_signal(ADAPTER, "permission.asked", id="per_1", permission="bash", **about)
    assert (began.kind, began.task, began.session) == ("task_began", CHILD, ME)
    assert (ended.kind, ended.task) == ("task_ended", CHILD)
    assert (asked.state, asked.session) == ("waiting_approval", ME)
    assert read_hook(ADAPTER, "session.updated", title="a part", **about) is None


def test_compaction_begins_and_ends():
    assert read_hook_signal(ADAPTER, "message.updated", compacting=True).flags.compacting is True
    assert read_hook_signal(ADAPTER, "session.compacted").flags.compacting is False
    assert read_hook(ADAPTER, "message.updated", role="user") is None


def test_events_that_are_new_say_nothing_and_garbage_is_not_understood():
    assert read_hook(ADAPTER, "session.diff") is None
    assert read_hook(ADAPTER, "session.status", status={"type": "asleep"}) is None
    assert read_source_record(ADAPTER, "hook", "]")[0].reason == "unsupported_signal"
    assert read_source_record(ADAPTER, "screen", "{}") == []


def test_the_plugin_tells_every_event_that_is_understood():
    plugin = (Path(opencode.__file__).parent / "plugin.js").read_text()
    assert [event for event in EVENT_INTERPRETERS if f'"{event}"' not in plugin] == []
