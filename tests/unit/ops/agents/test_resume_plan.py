"""Where a session is resumed, and which sessions were interrupted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.ops.agents._resume_plan import INTERRUPTED_END_REASONS, choose_resume_place, find_interrupted_sessions
from termvisor.testing.fake_services import FakeServices, build_shell_facts

COMMAND = ("codex", "resume", "0196")
OVER = AgentSession(
    id=SessionId(40),
    runtime=RuntimeId(90),
    pane=PaneId(1),
    agent="codex",
    external_id="0196",
    cwd="/src",
    started_at=1,
    ended_at=2,
    end_reason="pane_gone",
)
PROMPT = PaneActivity(kind="prompt")


@pytest.fixture
def services():
    made = FakeServices()
    made.add_pane(build_shell_facts(session_name="work", cwd="/src"))
    made.add_pane(build_shell_facts(session_name="work", mux_id="%2"))
    made.add_pane(build_shell_facts(session_name="other", mux_id="%3"))
    return made


async def build_plan(services, session=OVER, command=COMMAND):
    return choose_resume_place(
        session, command, await services.panes.list_panes(include_gone=True), await services.agents.list_views()
    )


async def test_a_session_resumes_in_its_own_pane_if_the_shell_is_at_its_prompt(services):
    services.change_pane(PaneId(1), activity=PROMPT)
    found = await build_plan(services)
    assert (found.where, found.action.pane, found.action.text) == ("pane", 1, "codex resume 0196")
    elsewhere = await build_plan(services, replace(OVER, cwd="/a b"))
    assert elsewhere.action.text == "cd '/a b' && codex resume 0196"


@pytest.mark.parametrize("kind", ["command", "alt_screen", "unknown", "gap"])
async def test_a_pane_that_is_not_at_a_prompt_gets_no_text(services, kind):
    services.change_pane(PaneId(1), activity=PaneActivity(kind=kind))
    found = await build_plan(services)
    assert (found.where, found.action.beside, found.action.cwd) == ("window", 1, "/src")


async def test_a_pane_with_another_agent_gets_no_text(services):
    services.change_pane(PaneId(1), activity=PROMPT)
    services.agents.start_agent(PaneId(1), "claude_code")
    assert (await build_plan(services)).where == "window"


async def test_a_session_without_its_pane_resumes_in_a_new_window(services):
    services.remove_pane(PaneId(1))
    found = await build_plan(services)
    assert (found.where, found.action.beside) == ("window", 2)


async def test_a_session_without_its_tmux_session_resumes_in_a_new_one(services):
    services.remove_pane(PaneId(1))
    services.remove_pane(PaneId(2))
    found = await build_plan(services)
    assert (found.where, found.action.session, found.action.command) == ("session", "work", COMMAND)
    unknown = await build_plan(services, replace(OVER, pane=PaneId(99)))
    assert (unknown.where, unknown.action.session) == ("session", "codex")


async def test_sessions_that_cannot_be_resumed_are_skipped_with_the_reason(services):
    assert (await build_plan(services, command=())).skip_reason == "no resume command is known for it"
    view = services.agents.start_agent(PaneId(3), "codex")
    services.agents.views_by_pane[PaneId(3)] = replace(view, session=replace(view.session, external_id="0196"))
    assert (await build_plan(services)).skip_reason == "already running in pane 3"
    for pane in (1, 2, 3):
        services.remove_pane(PaneId(pane))
    services.agents.views_by_pane.clear()
    assert "no tmux server is running" in (await build_plan(services)).skip_reason


async def test_an_idle_agent_whose_server_exited_was_interrupted(services):
    now = services.clock.now()
    rested = replace(OVER, end_reason="completed", ended_at=now)
    assert find_interrupted_sessions([rested], await services.panes.list_panes(include_gone=True)) == [], (
        "its pane is there"
    )
    services.remove_pane(PaneId(1))
    assert find_interrupted_sessions([rested], await services.panes.list_panes(include_gone=True)) == [], (
        "only its pane was closed"
    )
    for pane in (2, 3):
        services.remove_pane(PaneId(pane))
    panes = await services.panes.list_panes(include_gone=True)
    assert find_interrupted_sessions([rested], panes) == [rested]
    assert find_interrupted_sessions([replace(rested, ended_at=now - 3600 * NS)], panes) == [], (
        "it had left long before"
    )
    assert find_interrupted_sessions([replace(rested, end_reason="limit_reached")], panes) == []


def test_a_session_that_its_user_left_is_never_interrupted():
    ends = [replace(OVER, external_id=why, end_reason=why, ended_at=1) for why in ("manual", "error", "pane_gone")]
    assert [one.end_reason for one in find_interrupted_sessions(ends)] == ["error", "pane_gone"]


REASONS = st.sampled_from(("completed", "limit_reached", "error", "manual", "pane_gone", None))


@given(st.lists(st.tuples(st.sampled_from(("", "a", "b", "c")), REASONS), max_size=12))
def test_only_the_last_session_of_each_conversation_counts(history):
    sessions = [
        replace(OVER, id=SessionId(number), external_id=name, end_reason=why, ended_at=None if why is None else number)
        for number, (name, why) in enumerate(history)
    ]
    found = find_interrupted_sessions(sessions)
    last = {one.external_id: one for one in sessions if one.external_id}
    assert {one.external_id for one in found} == {
        name for name, one in last.items() if one.ended_at is not None and one.end_reason in INTERRUPTED_END_REASONS
    }
    assert all(one is last[one.external_id] for one in found)
