"""Where a conversation comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.model.terminal.pane import Activity
from termvisor.ops.agents._resume_plan import BROKEN_OFF, broken_off, plan
from termvisor.testing.world import MemoryWorld, shell

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
PROMPT = Activity(kind="prompt")


@pytest.fixture
def world():
    made = MemoryWorld()
    made.pane(shell(session_name="work", cwd="/src"))
    made.pane(shell(session_name="work", mux_id="%2"))
    made.pane(shell(session_name="other", mux_id="%3"))
    return made


async def returned(world, session=OVER, command=COMMAND):
    return plan(session, command, await world.fleet.panes(gone=True), await world.agents.views())


async def test_in_the_shell_that_it_left_where_that_is_at_its_prompt(world):
    world.change(PaneId(1), activity=PROMPT)
    found = await returned(world)
    assert (found.where, found.action.pane, found.action.text) == ("pane", 1, "codex resume 0196")
    elsewhere = await returned(world, replace(OVER, cwd="/a b"))
    assert elsewhere.action.text == "cd '/a b' && codex resume 0196"


@pytest.mark.parametrize("kind", ["command", "alt_screen", "unknown", "gap"])
async def test_a_pane_that_is_not_proven_free_is_not_typed_into(world, kind):
    world.change(PaneId(1), activity=Activity(kind=kind))
    found = await returned(world)
    assert (found.where, found.action.beside, found.action.cwd) == ("window", 1, "/src")


async def test_a_pane_in_which_another_agent_lives_is_not_typed_into(world):
    world.change(PaneId(1), activity=PROMPT)
    world.agents.begin(PaneId(1), "claude_code")
    assert (await returned(world)).where == "window"


async def test_beside_where_it_was_when_its_pane_is_gone(world):
    world.end(PaneId(1))
    found = await returned(world)
    assert (found.where, found.action.beside) == ("window", 2)


async def test_in_a_session_of_the_old_name_when_that_is_gone_too(world):
    world.end(PaneId(1))
    world.end(PaneId(2))
    found = await returned(world)
    assert (found.where, found.action.session, found.action.command) == ("session", "work", COMMAND)
    stranger = await returned(world, replace(OVER, pane=PaneId(99)))
    assert (stranger.where, stranger.action.session) == ("session", "codex")


async def test_what_cannot_or_need_not_come_back_is_skipped_with_the_reason(world):
    assert (await returned(world, command=())).skipped == "nothing takes it up again"
    view = world.agents.begin(PaneId(3), "codex")
    world.agents.known[PaneId(3)] = replace(view, session=replace(view.session, external_id="0196"))
    assert (await returned(world)).skipped == "it goes on in pane 3"
    for pane in (1, 2, 3):
        world.end(PaneId(pane))
    world.agents.known.clear()
    assert "no tmux server runs" in (await returned(world)).skipped


async def test_an_agent_at_rest_whose_server_ended_broke_off_too(world):
    now = world.clock.now()
    rested = replace(OVER, end_reason="completed", ended_at=now)
    assert broken_off([rested], await world.fleet.panes(gone=True)) == [], "its pane is there"
    world.end(PaneId(1))
    assert broken_off([rested], await world.fleet.panes(gone=True)) == [], "only its pane was closed"
    for pane in (2, 3):
        world.end(PaneId(pane))
    panes = await world.fleet.panes(gone=True)
    assert broken_off([rested], panes) == [rested]
    assert broken_off([replace(rested, ended_at=now - 3600 * NS)], panes) == [], "it had left long before"
    assert broken_off([replace(rested, end_reason="limit_reached")], panes) == []


REASONS = st.sampled_from(("completed", "limit_reached", "error", "manual", "pane_gone", None))


@given(st.lists(st.tuples(st.sampled_from(("", "a", "b", "c")), REASONS), max_size=12))
def test_the_last_word_on_each_conversation_decides(told):
    sessions = [
        replace(OVER, id=SessionId(number), external_id=name, end_reason=why, ended_at=None if why is None else number)
        for number, (name, why) in enumerate(told)
    ]
    found = broken_off(sessions)
    last = {one.external_id: one for one in sessions if one.external_id}
    assert {one.external_id for one in found} == {
        name for name, one in last.items() if one.ended_at is not None and one.end_reason in BROKEN_OFF
    }
    assert all(one is last[one.external_id] for one in found)
