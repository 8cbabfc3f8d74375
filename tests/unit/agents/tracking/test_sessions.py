"""Conversations from their beginning to their end."""

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
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.tracker_scene import ONE, build_signal
from tests.unit.agents.tracking.tracker_scene import build_agent_started as runtime_began

RUNTIME = runtime_began(NOON).runtime
STATE = AgentState(runtime=ONE, pane=PaneId(1), agent="toy")


def resume(agent: str, session: str) -> tuple[str, ...]:
    return (agent, session)


def told(*signals) -> AgentSessions:
    story, _ = start_session(AgentSessions(), RUNTIME)
    for signal in signals:
        story, _ = apply_session_signal(story, ONE, signal, resume)
    return story


def saying(second: int = 0, *, session: str = "", title: str | None = None, **payload):
    return build_signal(NOON + second * NS, "running", session=session, title=title, payload=payload)


def test_a_runtime_has_a_session_before_it_says_a_word():
    story, (session,) = start_session(AgentSessions(last=4), RUNTIME)
    assert (session.id, session.external_id, session.cwd, session.started_at) == (5, "", "/home/ada", NOON)
    assert story.going_on == {ONE: session}


def test_what_it_says_of_itself_is_kept():
    story = told(saying(session="abc", model="toy-1", version="2.0", total=10, cost=0.5), saying(total=12, cached=3))
    session = story.going_on[ONE]
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
def test_how_full_the_context_is_is_a_part_of_the_whole(payload, used):
    assert told(saying(**payload)).going_on[ONE].usage.context_used == used


def test_its_own_title_counts_and_the_panes_does_not():
    story = told(saying(title="fixing tests"), replace(saying(1, title="bash"), source="title", tier="heuristic"))
    assert story.going_on[ONE].title == "fixing tests"


def test_another_id_is_the_next_session_and_an_old_one_goes_on():
    story = told(saying(session="a"), saying(10, session="b", model="m"))
    (first,) = story.left[ONE]
    assert (first.external_id, first.ended_at, first.end_reason) == ("a", NOON + 10 * NS, "completed")
    assert (story.going_on[ONE].id, story.going_on[ONE].external_id) == (2, "b")
    again, changed = apply_session_signal(story, ONE, saying(20, session="a"), resume)
    assert (again.going_on[ONE].id, again.going_on[ONE].ended_at) == (1, None)
    assert sorted(one.id for one in changed) == [1, 2]
    assert again.last == 2


def test_what_says_nothing_new_changes_nothing():
    story = told(saying(session="a", model="m"))
    assert apply_session_signal(story, ONE, saying(5, session="a", model="m"), resume) == (story, ())
    assert apply_session_signal(AgentSessions(), ONE, saying(), resume) == (AgentSessions(), ())


def test_the_agents_own_reason_stands_and_the_end_forgets_the_runtime():
    story = told(saying(session="a"), saying(1, session="b", end_reason="limit_reached"))
    story, (over,) = end_session(story, ONE, NOON + 9, "manual")
    assert (over.end_reason, over.ended_at, story.going_on, story.left) == ("limit_reached", NOON + 9, {}, {})
    assert end_session(story, ONE, NOON + 9, "manual") == (story, ())


def test_an_unknown_reason_is_none():
    _, (over,) = end_session(told(saying(end_reason="boredom")), ONE, NOON, "completed")
    assert over.end_reason == "completed"


def test_what_broke_off_just_before_its_pane_went_was_the_panes_end():
    story, _ = end_session(told(), ONE, NOON, "manual")
    _, (over,) = mark_pane_closed(story, PaneId(1), NOON + NS)
    assert over.end_reason == "pane_gone"
    assert mark_pane_closed(story, PaneId(1), NOON + 6 * NS) == (story, ())
    assert mark_pane_closed(story, PaneId(2), NOON + NS) == (story, ())


def test_one_that_had_finished_stays_finished_though_its_pane_goes():
    story, _ = end_session(told(), ONE, NOON, "completed")
    assert mark_pane_closed(story, PaneId(1), NOON + NS) == (story, ())


@pytest.mark.parametrize(
    ("state", "is_pane_gone", "why"),
    [
        (replace(STATE, value="running"), True, "pane_gone"),
        (replace(STATE, value="idle", flags=AgentFlags(usage_limited=True)), False, "limit_reached"),
        (replace(STATE, value="error"), False, "error"),
        (replace(STATE, value="idle"), False, "completed"),
        (replace(STATE, value="waiting_input"), False, "manual"),
    ],
)
def test_why_it_ended_follows_from_the_last_that_was_known(state, is_pane_gone, why):
    assert derive_end_reason(state, is_pane_gone=is_pane_gone) == why


def named_by_argv(session: str, second: int = 0):
    return replace(saying(second, session=session), source="process", tier="heuristic", kind="note", state=None)


def test_the_session_that_a_command_line_names_can_be_taken_up_before_the_agent_says_a_word():
    session = told(named_by_argv("a")).going_on[ONE]
    assert (session.external_id, session.resume) == ("a", ("toy", "a"))


def test_the_agents_own_word_takes_the_place_of_what_its_command_line_named():
    story = told(named_by_argv("a"), saying(1, session="b"))
    session = story.going_on[ONE]
    assert (session.id, session.external_id, session.resume) == (1, "b", ("toy", "b"))
    assert (story.left, story.presumed) == ({}, frozenset())


def test_a_session_that_the_agent_confirmed_ends_where_it_names_another():
    story = told(named_by_argv("a"), saying(1, session="a"), saying(2, session="b"))
    assert [one.external_id for one in story.left[ONE]] == ["a"]
    assert story.going_on[ONE].external_id == "b"


def test_a_command_line_does_not_take_back_what_the_agent_said():
    story = told(saying(session="b"), named_by_argv("a", 1))
    assert (story.going_on[ONE].external_id, story.presumed) == ("b", frozenset())


def test_what_was_presumed_of_an_agent_goes_with_it():
    story, _ = end_session(told(named_by_argv("a")), ONE, NOON, "manual")
    assert story.presumed == frozenset()
