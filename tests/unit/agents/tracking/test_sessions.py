"""Sessions from start to end."""

import pytest
from msgspec.structs import replace

from termvisor.agents.tracking.sessions import (
    AgentSessions,
    SessionEnd,
    apply_session_signal,
    derive_session_end,
    end_session,
    mark_pane_closed,
    start_session,
)
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentExited, PaneClosed
from termvisor.model.agent.session import TokenUsage
from termvisor.model.agent.state import AgentFlags, AgentState
from termvisor.model.ids import PaneId
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_signal
from tests.unit.agents.tracking.tracker_scene import build_agent_started as runtime_began

RUNTIME = runtime_began(NOON).runtime
STATE = AgentState(runtime=ONE, pane=PaneId(1), agent="toy")
COMPLETED = SessionEnd("completed", is_proven=True)


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
    sessions, (over,) = end_session(sessions, ONE, NOON + 9, SessionEnd("manual"))
    assert (over.end_reason, over.ended_at, sessions.open_sessions, sessions.earlier_sessions) == (
        "limit_reached",
        NOON + 9,
        {},
        {},
    )
    assert end_session(sessions, ONE, NOON + 9, SessionEnd("manual")) == (sessions, ())


def test_an_unknown_end_reason_is_ignored():
    _, (over,) = end_session(apply_signals(build_session_signal(end_reason="boredom")), ONE, NOON, COMPLETED)
    assert over.end_reason == "completed"


def test_a_session_that_ended_just_before_its_pane_is_pane_gone():
    sessions, _ = end_session(apply_signals(), ONE, NOON, SessionEnd("manual"))
    _, (over,) = mark_pane_closed(sessions, PaneId(1), NOON + NS)
    assert over.end_reason == "pane_gone"
    assert mark_pane_closed(sessions, PaneId(1), NOON + 6 * NS) == (sessions, ())
    assert mark_pane_closed(sessions, PaneId(2), NOON + NS) == (sessions, ())


def test_a_completed_session_stays_completed_when_its_pane_closes():
    sessions, _ = end_session(apply_signals(), ONE, NOON, COMPLETED)
    assert mark_pane_closed(sessions, PaneId(1), NOON + NS) == (sessions, ())


LIMITED = AgentFlags(usage_limited=True)
EXIT = AgentExited(at=NOON, runtime=ONE)


@pytest.mark.parametrize(
    ("state", "exit_code", "reason", "is_proven"),
    [
        ("idle", 0, "manual", True),
        ("idle", 130, "manual", True),
        ("running", 0, "manual", True),
        ("error", 0, "manual", True),
        ("idle", 137, "error", False),
        ("idle", 143, "error", False),
        ("idle", 1, "error", False),
        ("idle", None, "manual", False),
        ("running", None, "error", False),
        ("waiting_input", None, "error", False),
        ("error", None, "error", True),
    ],
)
def test_the_end_reason_is_derived_from_the_exit_code_or_the_last_state(state, exit_code, reason, is_proven):
    end = derive_session_end(replace(STATE, value=state, since=NOON - 9 * NS), replace(EXIT, exit_code=exit_code), NOON)
    assert (end.reason, end.is_proven) == (reason, is_proven)


def test_the_end_of_a_pane_a_limit_and_a_task_are_end_reasons():
    running, done = replace(STATE, value="running"), replace(STATE, value="completed", since=NOON - NS)
    assert derive_session_end(running, PaneClosed(at=NOON, pane=PaneId(1)), NOON).reason == "pane_gone"
    assert derive_session_end(running, replace(EXIT, exit_code=129, is_pane_closing=True), NOON).reason == "pane_gone"
    assert (
        derive_session_end(replace(running, flags=LIMITED), replace(EXIT, exit_code=1), NOON).reason == "limit_reached"
    )
    assert derive_session_end(done, replace(EXIT, exit_code=0), NOON).reason == "completed"


def test_a_killed_agent_is_an_error_whatever_it_reported():
    sessions = apply_signals(build_session_signal(session="a", end_reason="manual"))
    _, (killed,) = end_session(sessions, ONE, NOON, derive_session_end(STATE, replace(EXIT, exit_code=143), NOON))
    _, (failed,) = end_session(sessions, ONE, NOON, derive_session_end(STATE, replace(EXIT, exit_code=1), NOON))
    assert (killed.end_reason, failed.end_reason) == ("error", "manual")


def test_a_user_who_leaves_an_agent_and_then_its_pane_has_left_it():
    end = derive_session_end(replace(STATE, value="idle"), replace(EXIT, exit_code=0), NOON)
    sessions, (over,) = end_session(apply_signals(), ONE, NOON, end)
    assert (over.end_reason, mark_pane_closed(sessions, PaneId(1), NOON + NS)) == ("manual", (sessions, ()))


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
    sessions, _ = end_session(apply_signals(build_argv_signal("a")), ONE, NOON, SessionEnd("manual"))
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
