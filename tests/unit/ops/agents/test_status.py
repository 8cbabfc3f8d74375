from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.state import Flags
from termvisor.model.ids import PaneId
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell


def _crew(world: MemoryWorld, count: int) -> list[PaneId]:
    panes = [world.pane(shell(f"%{number}", window=number)).id for number in range(1, count + 1)]
    for pane in panes:
        world.agents.begin(pane)
    return panes


async def test_counts_needs_groups_and_what_cannot_be_heard_stand_on_one_screen() -> None:
    data = (await ask(await lively(op="status"), "robot", "status")).envelope["data"]
    assert list(data) == ["schema_version", "generated_at", "filters", "summary", "items", "groups", "down"]
    summary = data["summary"]
    assert (summary["agents"], summary["top_state"], summary["needs_action"]) == (4, "waiting_approval", 1)
    assert summary["by_state"] == {"waiting_approval": 1, "running": 1, "completed": 1, "unknown": 1}
    assert [(item["identity"]["id"], item["needs"]) for item in data["items"]] == [(2, "approve"), (5, "review")]
    assert [group["name"] for group in data["groups"]] == ["local/agents", "local/work"]
    assert [source["source"] for source in data["down"]] == ["app_server"]


async def test_the_most_urgent_comes_first_and_of_one_kind_the_oldest() -> None:
    world = MemoryWorld()
    first, second, third = _crew(world, 3)
    world.agents.become(second, "waiting_approval")
    await world.clock.advance(5)
    world.agents.become(first, "waiting_approval")
    world.agents.become(third, "error", since=world.clock.now() - 3600 * NS)
    items = (await ask(world, "robot", "status")).envelope["data"]["items"]
    assert [item["identity"]["id"] for item in items] == [second, first, third]


async def test_who_waits_for_a_limit_is_told_but_needs_nobody() -> None:
    world = MemoryWorld()
    (pane,) = _crew(world, 1)
    limit = Flags(usage_limited=True, resets_at=world.clock.now() + 3600 * NS)
    world.agents.become(pane, "error", flags=limit)
    assert (await ask(world, "status")).out == (
        "1 agent: 1 error. Nobody needs you.\n\n"
        "1 claude_code waits for its usage limit to end (usage limit for 1h, 0s ago)\n"
    )


async def test_without_agents_it_says_so() -> None:
    assert (await ask(await lively(), "status")).out == "No agents in 2 panes.\n"
    assert (await ask(await lively(), "status", "--session", "x")).out == "No agents.\n"


async def test_groups_are_what_was_asked_for() -> None:
    world = await lively(op="status")
    for grouping, names in (
        ("session-name", ["agents", "work"]),
        ("target", ["local"]),
        ("agent", ["claude_code", "codex", "gemini", "opencode"]),
        ("window", ["local/agents:2", "local/agents:4", "local/work:5", "local/work:6"]),
    ):
        groups = (await ask(world, "robot", "status", "--group-by", grouping)).envelope["data"]["groups"]
        assert [group["name"] for group in groups] == names


async def test_many_that_wait_are_cut_and_counted() -> None:
    world = MemoryWorld()
    for pane in _crew(world, 13):
        world.agents.become(pane, "waiting_input")
    out = (await ask(world, "status")).out
    assert "13 need you" in out
    assert "… and 3 more" in out


async def test_hostile_titles_and_sources_are_text_only() -> None:
    world = MemoryWorld()
    (pane,) = _crew(world, 1)
    world.agents.known[pane] = replace(world.agents.become(pane, "waiting_input"), title="x\x1b[2J\n9 root")
    assert "\x1b" not in (await ask(world, "status")).out
