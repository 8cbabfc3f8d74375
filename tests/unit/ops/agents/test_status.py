from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.state import AgentFlags
from termvisor.model.ids import PaneId
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


def _start_agents(services: FakeServices, count: int) -> list[PaneId]:
    panes = [services.add_pane(build_shell_facts(f"%{number}", window=number)).id for number in range(1, count + 1)]
    for pane in panes:
        services.agents.start_agent(pane)
    return panes


async def test_the_report_has_counts_needs_groups_and_down_sources() -> None:
    data = (await run_command(await build_sample_services(op="status"), "robot", "status")).envelope["data"]
    assert list(data) == [
        "schema_version", "generated_at", "filters", "summary", "items", "groups", "down", "versions", "requests",
    ]  # fmt: skip
    summary = data["summary"]
    assert (summary["agents"], summary["top_state"], summary["needs_action"]) == (4, "waiting_approval", 1)
    assert summary["by_state"] == {"waiting_approval": 1, "running": 1, "completed": 1, "unknown": 1}
    assert [(item["identity"]["id"], item["needs"]) for item in data["items"]] == [(2, "approve"), (5, "review")]
    assert [group["name"] for group in data["groups"]] == ["local/agents", "local/work"]
    assert [source["source"] for source in data["down"]] == ["app_server"]


async def test_versions_without_recordings_are_listed_with_a_way_to_details() -> None:
    services = FakeServices()
    panes = _start_agents(services, 4)
    unseen = ProgramVersion(
        version="2.0.76", status="unseen", recorded=("2.1.325",), unproven=("look",), screens=4, strange_screens=3
    )
    for pane in panes[:2]:
        services.agents.set_program(pane, unseen)
    services.agents.set_program(panes[2], ProgramVersion(version="2.1.325", status="recorded", recorded=("2.1.325",)))
    data = (await run_command(services, "robot", "status")).envelope["data"]["versions"]
    assert [(item["version"], item["status"], item["panes"], item["strange_screens"]) for item in data] == [
        ("", "no_recordings", [4], 0),
        ("2.0.76", "unseen", [1, 2], 6),
        ("2.1.325", "recorded", [3], 0),
    ]
    assert (await run_command(services, "status")).out.splitlines()[-1] == (
        "claude_code version 2.0.76 has no recordings, only 2.1.325;"
        " 6 of 8 screens not recognized (pane 1, 2); details: `visor explain 1`"
    )


async def test_needs_are_sorted_by_urgency_then_age() -> None:
    services = FakeServices()
    first, second, third = _start_agents(services, 3)
    services.agents.set_state(second, "waiting_approval")
    await services.clock.advance(5)
    services.agents.set_state(first, "waiting_approval")
    services.agents.set_state(third, "error", since=services.clock.now() - 3600 * NS)
    items = (await run_command(services, "robot", "status")).envelope["data"]["items"]
    assert [item["identity"]["id"] for item in items] == [second, first, third]


async def test_an_agent_that_waits_for_a_limit_needs_no_action() -> None:
    services = FakeServices()
    (pane,) = _start_agents(services, 1)
    limit = AgentFlags(usage_limited=True, resets_at=services.clock.now() + 3600 * NS)
    services.agents.set_state(pane, "error", flags=limit)
    assert (await run_command(services, "status")).out == (
        "1 agent: 1 error. No agent needs you.\n\n"
        "1 claude_code waits for its usage limit to reset (usage limit for 1h, 0s ago)\n"
    )


async def test_without_agents_status_says_so() -> None:
    assert (await run_command(await build_sample_services(), "status")).out == "No agents in 2 panes.\n"
    assert (await run_command(await build_sample_services(), "status", "--session", "x")).out == "No agents.\n"


async def test_agents_are_grouped_by_the_requested_key() -> None:
    services = await build_sample_services(op="status")
    for grouping, names in (
        ("session-name", ["agents", "work"]),
        ("target", ["local"]),
        ("agent", ["claude_code", "codex", "gemini", "opencode"]),
        ("window", ["local/agents:2", "local/agents:4", "local/work:5", "local/work:6"]),
    ):
        groups = (await run_command(services, "robot", "status", "--group-by", grouping)).envelope["data"]["groups"]
        assert [group["name"] for group in groups] == names


async def test_a_long_list_of_waiting_agents_is_truncated_with_a_count() -> None:
    services = FakeServices()
    for pane in _start_agents(services, 13):
        services.agents.set_state(pane, "waiting_input")
    out = (await run_command(services, "status")).out
    assert "13 need you" in out
    assert "… and 3 more" in out


async def test_hostile_titles_and_sources_are_text_only() -> None:
    services = FakeServices()
    (pane,) = _start_agents(services, 1)
    services.agents.views_by_pane[pane] = replace(
        services.agents.set_state(pane, "waiting_input"), title="x\x1b[2J\n9 root"
    )
    assert "\x1b" not in (await run_command(services, "status")).out


async def test_the_agent_of_a_named_pane_is_listed_whatever_it_does() -> None:
    services = FakeServices()
    working, waiting = _start_agents(services, 2)
    services.agents.set_state(working, "running")
    services.agents.set_state(waiting, "waiting_approval")
    result = await run_command(services, "robot", "status", "--pane", str(working))
    assert [item["identity"]["id"] for item in result.envelope["data"]["items"]] == [working]
    text = (await run_command(services, "status", "--pane", str(working))).out
    assert f"{working} claude_code is running (" in text
    assert str((await run_command(services, "robot", "status")).envelope["data"]["items"][0]["identity"]["id"]) == str(
        waiting
    )
