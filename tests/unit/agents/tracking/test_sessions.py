"""Sessions from start to end."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking.sessions import (
    AgentSessions,
    apply_session_signal,
    derive_end_reason,
    end_session,
    mark_pane_closed,
    start_session,
)
from termvisor.clock import NS
from termvisor.model.agent.session import TokenUsage
from termvisor.model.agent.state import AgentFlags, AgentState
from termvisor.model.ids import PaneId
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_signal
from tests.unit.agents.tracking.tracker_scene import build_agent_started as runtime_began

RUNTIME = runtime_began(NOON).runtime
STATE = AgentState(runtime=ONE, pane=PaneId(1), agent="toy")


def build_resume_command(agent: str, session: str) -> tuple[str, ...]:
    return (agent, session)


def apply_signals(*signals) -> AgentSessions:
    sessions, _ = start_session(AgentSessions(), RUNTIME)
    for signal in signals:
        sessions, _ = apply_session_signal(sessions, ONE, signal, build_resume_command)
    return sessions


def build_session_signal(second: int = 0, *, session: str = "", title: str | None = None, **payload):
    return build_signal(NOON + second * NS, "running", session=session, title=title, payload=payload)


def test_an_agent_process_starts_with_a_session():
    sessions, (session,) = start_session(AgentSessions(last_session_id=4), RUNTIME)
    assert (session.id, session.external_id, session.cwd, session.started_at) == (5, "", "/home/ada", NOON)
    assert sessions.open_sessions == {ONE: session}


def test_reported_details_are_kept():
    sessions = apply_signals(
        build_session_signal(session="abc", model="toy-1", version="2.0", total=10, cost=0.5),
        build_session_signal(total=12, cached=3),
    )
    session = sessions.open_sessions[ONE]
    assert (session.external_id, session.resume, session.model, session.version) == (
        "abc",
        ("toy", "abc"),
        "toy-1",
        "2.0",
    )
    assert session.usage == TokenUsage(total=12, cached=3, cost=0.5)


@pytest.mark.parametrize(
    ("payload", "used"),
    [
        ({"context_used": 0.4}, 0.4),
        ({"context_used": 50_000, "context_size": 200_000}, 0.25),
        ({"context_used": 50_000}, None),
        ({"context_used": "much"}, None),
        ({"context_used": -1}, None),
    ],
)
def test_context_usage_is_a_share(payload, used):
    assert apply_signals(build_session_signal(**payload)).open_sessions[ONE].usage.context_used == used


def test_only_the_agents_own_title_counts():
    sessions = apply_signals(
        build_session_signal(title="fixing tests"),
        replace(build_session_signal(1, title="bash"), source="title", tier="heuristic"),
    )
    assert sessions.open_sessions[ONE].title == "fixing tests"


def test_a_new_id_starts_a_session_and_an_old_id_resumes_it():
    sessions = apply_signals(build_session_signal(session="a"), build_session_signal(10, session="b", model="m"))
    (first,) = sessions.earlier_sessions[ONE]
    assert (first.external_id, first.ended_at, first.end_reason) == ("a", NOON + 10 * NS, "completed")
    assert (sessions.open_sessions[ONE].id, sessions.open_sessions[ONE].external_id) == (2, "b")
    again, changed = apply_session_signal(sessions, ONE, build_session_signal(20, session="a"), build_resume_command)
    assert (again.open_sessions[ONE].id, again.open_sessions[ONE].ended_at) == (1, None)
    assert sorted(one.id for one in changed) == [1, 2]
    assert again.last_session_id == 2


def test_a_signal_without_news_changes_nothing():
    sessions = apply_signals(build_session_signal(session="a", model="m"))
    assert apply_session_signal(
        sessions, ONE, build_session_signal(5, session="a", model="m"), build_resume_command
    ) == (sessions, ())
    assert apply_session_signal(AgentSessions(), ONE, build_session_signal(), build_resume_command) == (
        AgentSessions(),
        (),
    )


def test_the_reported_end_reason_is_kept():
    sessions = apply_signals(
        build_session_signal(session="a"), build_session_signal(1, session="b", end_reason="limit_reached")
    )
    sessions, (over,) = end_session(sessions, ONE, NOON + 9, "manual")
    assert (over.end_reason, over.ended_at, sessions.open_sessions, sessions.earlier_sessions) == (
        "limit_reached",
        NOON + 9,
        {},
        {},
    )
    assert end_session(sessions, ONE, NOON + 9, "manual") == (sessions, ())


def test_an_unknown_end_reason_is_ignored():
    _, (over,) = end_session(apply_signals(build_session_signal(end_reason="boredom")), ONE, NOON, "completed")
    assert over.end_reason == "completed"


def test_a_session_that_ended_just_before_its_pane_is_pane_gone():
    sessions, _ = end_session(apply_signals(), ONE, NOON, "manual")
    _, (over,) = mark_pane_closed(sessions, PaneId(1), NOON + NS)
    assert over.end_reason == "pane_gone"
    assert mark_pane_closed(sessions, PaneId(1), NOON + 6 * NS) == (sessions, ())
    assert mark_pane_closed(sessions, PaneId(2), NOON + NS) == (sessions, ())


def test_a_completed_session_stays_completed_when_its_pane_closes():
    sessions, _ = end_session(apply_signals(), ONE, NOON, "completed")
    assert mark_pane_closed(sessions, PaneId(1), NOON + NS) == (sessions, ())


@pytest.mark.parametrize(
    ("state", "is_pane_gone", "reason"),
    [
        (replace(STATE, value="running"), True, "pane_gone"),
        (replace(STATE, value="idle", flags=AgentFlags(usage_limited=True)), False, "limit_reached"),
        (replace(STATE, value="error"), False, "error"),
        (replace(STATE, value="idle"), False, "completed"),
        (replace(STATE, value="waiting_input"), False, "manual"),
    ],
)
def test_the_end_reason_is_derived_from_the_last_state(state, is_pane_gone, reason):
    assert derive_end_reason(state, is_pane_gone=is_pane_gone) == reason


def build_argv_signal(session: str, second: int = 0):
    return replace(
        build_session_signal(second, session=session), source="process", tier="heuristic", kind="note", state=None
    )


def test_a_session_from_the_command_line_can_be_resumed():
    session = apply_signals(build_argv_signal("a")).open_sessions[ONE]
    assert (session.external_id, session.resume) == ("a", ("toy", "a"))


def test_a_reported_id_replaces_that_of_the_command_line():
    sessions = apply_signals(build_argv_signal("a"), build_session_signal(1, session="b"))
    session = sessions.open_sessions[ONE]
    assert (session.id, session.external_id, session.resume) == (1, "b", ("toy", "b"))
    assert (sessions.earlier_sessions, sessions.presumed) == ({}, frozenset())


def test_a_confirmed_session_ends_when_another_is_reported():
    sessions = apply_signals(
        build_argv_signal("a"), build_session_signal(1, session="a"), build_session_signal(2, session="b")
    )
    assert [one.external_id for one in sessions.earlier_sessions[ONE]] == ["a"]
    assert sessions.open_sessions[ONE].external_id == "b"


def test_a_command_line_does_not_replace_a_reported_id():
    sessions = apply_signals(build_session_signal(session="b"), build_argv_signal("a", 1))
    assert (sessions.open_sessions[ONE].external_id, sessions.presumed) == ("b", frozenset())


def test_a_presumed_session_ends_with_its_agent():
    sessions, _ = end_session(apply_signals(build_argv_signal("a")), ONE, NOON, "manual")
    assert sessions.presumed == frozenset()


def test_a_new_session_with_details_changes_itself_and_the_one_before():
    sessions = apply_signals(build_session_signal(session="a"))
    signal = build_session_signal(10, session="b", model="m")
    sessions, changed = apply_session_signal(sessions, ONE, signal, build_resume_command)
    assert [(one.external_id, one.model, one.ended_at) for one in changed] == [
        ("a", "", NOON + 10 * NS),
        ("b", "m", None),
    ]
    assert changed[-1] == sessions.open_sessions[ONE]
    assert (changed[-1].resume, changed[-1].started_at) == (("toy", "b"), NOON + 10 * NS)


def test_an_end_reason_lasts_until_the_end():
    sessions = apply_signals(
        build_session_signal(session="a", end_reason="limit_reached"), build_session_signal(1, model="m")
    )
    assert sessions.open_sessions[ONE].end_reason == "limit_reached"
