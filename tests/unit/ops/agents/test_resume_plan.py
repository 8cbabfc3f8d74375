"""Where a conversation comes back."""

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
def world():
    made = FakeServices()
    made.add_pane(build_shell_facts(session_name="work", cwd="/src"))
    made.add_pane(build_shell_facts(session_name="work", mux_id="%2"))
    made.add_pane(build_shell_facts(session_name="other", mux_id="%3"))
    return made


async def returned(world, session=OVER, command=COMMAND):
    return choose_resume_place(
        session, command, await world.panes.list_panes(include_gone=True), await world.agents.list_views()
    )


async def test_in_the_shell_that_it_left_where_that_is_at_its_prompt(world):
    world.change_pane(PaneId(1), activity=PROMPT)
    found = await returned(world)
    assert (found.where, found.action.pane, found.action.text) == ("pane", 1, "codex resume 0196")
    elsewhere = await returned(world, replace(OVER, cwd="/a b"))
    assert elsewhere.action.text == "cd '/a b' && codex resume 0196"


@pytest.mark.parametrize("kind", ["command", "alt_screen", "unknown", "gap"])
async def test_a_pane_that_is_not_proven_free_is_not_typed_into(world, kind):
    world.change_pane(PaneId(1), activity=PaneActivity(kind=kind))
    found = await returned(world)
    assert (found.where, found.action.beside, found.action.cwd) == ("window", 1, "/src")


async def test_a_pane_in_which_another_agent_lives_is_not_typed_into(world):
    world.change_pane(PaneId(1), activity=PROMPT)
    world.agents.start_agent(PaneId(1), "claude_code")
    assert (await returned(world)).where == "window"


async def test_beside_where_it_was_when_its_pane_is_gone(world):
    world.remove_pane(PaneId(1))
    found = await returned(world)
    assert (found.where, found.action.beside) == ("window", 2)


async def test_in_a_session_of_the_old_name_when_that_is_gone_too(world):
    world.remove_pane(PaneId(1))
    world.remove_pane(PaneId(2))
    found = await returned(world)
    assert (found.where, found.action.session, found.action.command) == ("session", "work", COMMAND)
    stranger = await returned(world, replace(OVER, pane=PaneId(99)))
    assert (stranger.where, stranger.action.session) == ("session", "codex")


async def test_what_cannot_or_need_not_come_back_is_skipped_with_the_reason(world):
    assert (await returned(world, command=())).skip_reason == "nothing takes it up again"
    view = world.agents.start_agent(PaneId(3), "codex")
    world.agents.views_by_pane[PaneId(3)] = replace(view, session=replace(view.session, external_id="0196"))
    assert (await returned(world)).skip_reason == "it goes on in pane 3"
    for pane in (1, 2, 3):
        world.remove_pane(PaneId(pane))
    world.agents.views_by_pane.clear()
    assert "no tmux server runs" in (await returned(world)).skip_reason


async def test_an_agent_at_rest_whose_server_ended_broke_off_too(world):
    now = world.clock.now()
    rested = replace(OVER, end_reason="completed", ended_at=now)
    assert find_interrupted_sessions([rested], await world.panes.list_panes(include_gone=True)) == [], (
        "its pane is there"
    )
    world.remove_pane(PaneId(1))
    assert find_interrupted_sessions([rested], await world.panes.list_panes(include_gone=True)) == [], (
        "only its pane was closed"
    )
    for pane in (2, 3):
        world.remove_pane(PaneId(pane))
    panes = await world.panes.list_panes(include_gone=True)
    assert find_interrupted_sessions([rested], panes) == [rested]
    assert find_interrupted_sessions([replace(rested, ended_at=now - 3600 * NS)], panes) == [], (
        "it had left long before"
    )
    assert find_interrupted_sessions([replace(rested, end_reason="limit_reached")], panes) == []


REASONS = st.sampled_from(("completed", "limit_reached", "error", "manual", "pane_gone", None))


@given(st.lists(st.tuples(st.sampled_from(("", "a", "b", "c")), REASONS), max_size=12))
def test_the_last_word_on_each_conversation_decides(told):
    sessions = [
        replace(OVER, id=SessionId(number), external_id=name, end_reason=why, ended_at=None if why is None else number)
        for number, (name, why) in enumerate(told)
    ]
    found = find_interrupted_sessions(sessions)
    last = {one.external_id: one for one in sessions if one.external_id}
    assert {one.external_id for one in found} == {
        name for name, one in last.items() if one.ended_at is not None and one.end_reason in INTERRUPTED_END_REASONS
    }
    assert all(one is last[one.external_id] for one in found)
