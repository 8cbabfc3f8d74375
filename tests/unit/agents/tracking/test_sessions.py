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
from termvisor.model.agent.session import AgentSession, TokenUsage
from termvisor.model.agent.state import AgentFlags, AgentState
from termvisor.model.ids import PaneId, RuntimeId
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


def test_a_reported_version_replaces_an_inferred_one():
    inferred = [replace(build_session_signal(version=one), tier="heuristic") for one in ("1.0", "1.1")]
    reported = build_session_signal(version="2.0")
    assert apply_signals(*inferred).open_sessions[ONE].version == "1.0"
    assert apply_signals(inferred[0], reported, inferred[1]).open_sessions[ONE].version == "2.0"


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
    closed, (over,) = mark_pane_closed(sessions, PaneId(1), NOON + 5 * NS)
    assert (over.end_reason, closed.abrupt_ends) == ("pane_gone", {})
    assert mark_pane_closed(sessions, PaneId(1), NOON + 5 * NS + 1) == (sessions, ())
    assert mark_pane_closed(sessions, PaneId(2), NOON + NS) == (sessions, ())


def test_a_completed_session_stays_completed_when_its_pane_closes():
    sessions, _ = end_session(apply_signals(), ONE, NOON, COMPLETED)
    assert mark_pane_closed(sessions, PaneId(1), NOON + NS) == (sessions, ())


LIMITED = AgentFlags(usage_limited=True)
EXIT = AgentExited(at=NOON, runtime=ONE)


@pytest.mark.parametrize(
    ("state", "exit_code", "end"),
    [
        ("idle", 0, SessionEnd("manual", is_proven=True)),
        ("idle", 130, SessionEnd("manual", is_proven=True)),
        ("running", 0, SessionEnd("manual", is_proven=True)),
        ("error", 0, SessionEnd("manual", is_proven=True)),
        ("idle", 137, SessionEnd("error", is_forced=True)),
        ("idle", 143, SessionEnd("error", is_forced=True)),
        ("idle", 128, SessionEnd("error")),
        ("idle", 1, SessionEnd("error")),
        ("idle", None, SessionEnd("manual")),
        ("completed", None, SessionEnd("manual")),
        ("running", None, SessionEnd("error")),
        ("waiting_input", None, SessionEnd("error")),
        ("error", None, SessionEnd("error", is_proven=True)),
    ],
)
def test_the_end_is_derived_from_the_exit_code_or_the_last_state(state, exit_code, end):
    last = replace(STATE, value=state, since=NOON - 9 * NS)
    assert derive_session_end(last, replace(EXIT, exit_code=exit_code), NOON) == end


RUNNING, DONE = replace(STATE, value="running"), replace(STATE, value="completed", since=NOON - 2 * NS)


@pytest.mark.parametrize(
    ("state", "fact", "end"),
    [
        (RUNNING, PaneClosed(at=NOON, pane=PaneId(1)), SessionEnd("pane_gone", is_proven=True)),
        (RUNNING, replace(EXIT, exit_code=0, is_pane_closing=True), SessionEnd("pane_gone", is_proven=True)),
        (
            RUNNING,
            replace(EXIT, exit_code=129, is_pane_closing=True),
            SessionEnd("pane_gone", is_proven=True, is_forced=True),
        ),
        (replace(RUNNING, flags=LIMITED), replace(EXIT, exit_code=1), SessionEnd("limit_reached", is_proven=True)),
        (replace(RUNNING, flags=LIMITED), EXIT, SessionEnd("limit_reached", is_proven=True)),
        (replace(RUNNING, flags=LIMITED), replace(EXIT, exit_code=137), SessionEnd("error", is_forced=True)),
        (DONE, replace(EXIT, exit_code=0), COMPLETED),
        (DONE, EXIT, COMPLETED),
        (replace(DONE, since=NOON - 2 * NS - 1), EXIT, SessionEnd("manual")),
        (replace(DONE, value="idle"), EXIT, SessionEnd("manual")),
    ],
)
def test_the_end_of_a_pane_a_limit_and_a_task_are_end_reasons(state, fact, end):
    assert derive_session_end(state, fact, NOON) == end


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


def start_three() -> AgentSessions:
    """Start three agents, each with a presumed id and an earlier session."""
    sessions = AgentSessions()
    for number in (1, 2, 3):
        sessions, _ = start_session(sessions, runtime_began(NOON, number, pane=number).runtime)
        for signal in (build_session_signal(session=f"a{number}"), build_session_signal(1, session=f"b{number}")):
            sessions, _ = apply_session_signal(sessions, RuntimeId(number), signal, build_resume_command)
    return replace(sessions, presumed=frozenset(map(RuntimeId, (1, 2, 3))))


def test_an_end_leaves_the_sessions_of_other_agents():
    sessions = start_three()
    after, (over,) = end_session(sessions, RuntimeId(2), NOON + NS, SessionEnd("manual"))
    assert after == AgentSessions(
        open_sessions={number: sessions.open_sessions[RuntimeId(number)] for number in (1, 3)},
        earlier_sessions={number: sessions.earlier_sessions[RuntimeId(number)] for number in (1, 3)},
        abrupt_ends={PaneId(2): over},
        presumed=frozenset((1, 3)),
        last_session_id=6,
    )
    assert over == replace(sessions.open_sessions[RuntimeId(2)], ended_at=NOON + NS, end_reason="manual")


def test_an_abrupt_end_is_kept_while_its_pane_may_be_closing():
    sessions = start_three()
    for number, second in ((1, 0), (2, 1), (3, 6)):
        sessions, _ = end_session(sessions, RuntimeId(number), NOON + second * NS, SessionEnd("error"))
    assert set(sessions.abrupt_ends) == {2, 3}
    after, (over,) = mark_pane_closed(sessions, PaneId(3), NOON + 6 * NS)
    assert (over.runtime, set(after.abrupt_ends)) == (3, {2})


def test_a_new_session_of_an_agent_takes_over_what_lasts():
    first = replace(RUNTIME, cwd="/src")
    sessions, _ = start_session(AgentSessions(), first)
    details = {"model": "m", "version": "2.0", "end_reason": "limit_reached", "total": 5}
    for signal in (build_session_signal(session="a", title="t", **details), build_session_signal(9, session="b")):
        sessions, changed = apply_session_signal(sessions, ONE, signal, build_resume_command)
    closed, opened = changed
    assert (closed.end_reason, closed.ended_at) == ("limit_reached", NOON + 9 * NS)
    assert opened == AgentSession(
        id=2,
        runtime=ONE,
        pane=PaneId(1),
        agent="toy",
        external_id="b",
        version="2.0",
        cwd="/src",
        started_at=NOON + 9 * NS,
        resume=("toy", "b"),
    )


def test_a_resumed_session_is_open_again_and_no_earlier_one():
    sessions = apply_signals(*(build_session_signal(second, session=name) for second, name in enumerate("abca")))
    assert [one.external_id for one in sessions.earlier_sessions[ONE]] == ["b", "c"]
    resumed = sessions.open_sessions[ONE]
    assert (resumed.id, resumed.external_id, resumed.ended_at, resumed.end_reason) == (1, "a", None, None)


def test_a_signal_without_an_id_leaves_the_session_presumed():
    sessions = apply_signals(build_argv_signal("a"), build_session_signal(1, model="m"))
    assert (sessions.open_sessions[ONE].external_id, sessions.presumed) == ("a", {ONE})
    again, changed = apply_session_signal(sessions, ONE, build_argv_signal("z", 2), build_resume_command)
    assert (again, changed) == (sessions, ())


def test_details_that_are_no_text_are_ignored():
    sessions = apply_signals(
        build_session_signal(model="m", version="2", title="t"), build_session_signal(model=7, version=True, title="")
    )
    session = sessions.open_sessions[ONE]
    assert (session.model, session.version, session.title) == ("m", "2", "t")
