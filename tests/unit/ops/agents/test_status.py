from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import PaneId
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import build_sample_services, run_command


def _crew(world: FakeServices, count: int) -> list[PaneId]:
    panes = [world.add_pane(build_shell_facts(f"%{number}", window=number)).id for number in range(1, count + 1)]
    for pane in panes:
        world.agents.start_agent(pane)
    return panes


async def test_counts_needs_groups_and_what_cannot_be_heard_stand_on_one_screen() -> None:
    data = (await run_command(await build_sample_services(op="status"), "robot", "status")).envelope["data"]
    assert list(data) == ["schema_version", "generated_at", "filters", "summary", "items", "groups", "down"]
    summary = data["summary"]
    assert (summary["agents"], summary["top_state"], summary["needs_action"]) == (4, "waiting_approval", 1)
    assert summary["by_state"] == {"waiting_approval": 1, "running": 1, "completed": 1, "unknown": 1}
    assert [(item["identity"]["id"], item["needs"]) for item in data["items"]] == [(2, "approve"), (5, "review")]
    assert [group["name"] for group in data["groups"]] == ["local/agents", "local/work"]
    assert [source["source"] for source in data["down"]] == ["app_server"]


async def test_the_most_urgent_comes_first_and_of_one_kind_the_oldest() -> None:
    world = FakeServices()
    first, second, third = _crew(world, 3)
    world.agents.set_state(second, "waiting_approval")
    await world.clock.advance(5)
    world.agents.set_state(first, "waiting_approval")
    world.agents.set_state(third, "error", since=world.clock.now() - 3600 * NS)
    items = (await run_command(world, "robot", "status")).envelope["data"]["items"]
    assert [item["identity"]["id"] for item in items] == [second, first, third]


async def test_who_waits_for_a_limit_is_told_but_needs_nobody() -> None:
    world = FakeServices()
    (pane,) = _crew(world, 1)
    limit = AgentFlags(usage_limited=True, resets_at=world.clock.now() + 3600 * NS)
    world.agents.set_state(pane, "error", flags=limit)
    assert (await run_command(world, "status")).out == (
        "1 agent: 1 error. Nobody needs you.\n\n"
        "1 claude_code waits for its usage limit to end (usage limit for 1h, 0s ago)\n"
    )


async def test_without_agents_it_says_so() -> None:
    assert (await run_command(await build_sample_services(), "status")).out == "No agents in 2 panes.\n"
    assert (await run_command(await build_sample_services(), "status", "--session", "x")).out == "No agents.\n"


async def test_groups_are_what_was_asked_for() -> None:
    world = await build_sample_services(op="status")
    for grouping, names in (
        ("session-name", ["agents", "work"]),
        ("target", ["local"]),
        ("agent", ["claude_code", "codex", "gemini", "opencode"]),
        ("window", ["local/agents:2", "local/agents:4", "local/work:5", "local/work:6"]),
    ):
        groups = (await run_command(world, "robot", "status", "--group-by", grouping)).envelope["data"]["groups"]
        assert [group["name"] for group in groups] == names


async def test_many_that_wait_are_cut_and_counted() -> None:
    world = FakeServices()
    for pane in _crew(world, 13):
        world.agents.set_state(pane, "waiting_input")
    out = (await run_command(world, "status")).out
    assert "13 need you" in out
    assert "… and 3 more" in out


async def test_hostile_titles_and_sources_are_text_only() -> None:
    world = FakeServices()
    (pane,) = _crew(world, 1)
    world.agents.views_by_pane[pane] = replace(world.agents.set_state(pane, "waiting_input"), title="x\x1b[2J\n9 root")
    assert "\x1b" not in (await run_command(world, "status")).out
