from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.ids import PaneId
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_every_program_is_listed_with_capabilities_and_panes() -> None:
    data = (await run_command(await build_sample_services(op="agents_list"), "robot", "agents", "list")).envelope[
        "data"
    ]
    claude, copilot = data["items"]
    assert (claude["name"], claude["version"], claude["is_enabled"], claude["panes"]) == (
        "claude_code",
        "1.0",
        True,
        [2],
    )
    assert (copilot["is_enabled"], copilot["capabilities"]) == (False, ["recognise"])
    assert (data["summary"]["known"], data["summary"]["enabled"]) == (2, 1)


async def test_unseen_versions_are_marked() -> None:
    services = await build_sample_services(op="agents_list")
    services.agents.set_program(PaneId(2), ProgramVersion(version="2.0.76", status="unseen", recorded=("2.1.325",)))
    claude, _ = (await run_command(services, "robot", "agents", "list")).envelope["data"]["items"]
    assert (claude["alive"], claude["unseen"]) == (["2.0.76"], ["2.0.76"])
    assert "2.0.76 (unseen)" in (await run_command(services, "agents")).out


async def test_the_alias_lists_programs() -> None:
    assert (await run_command(await build_sample_services(op="agents_list"), "agents")).out.endswith(
        "1 of 2 agents enabled, 4 running\n"
    )
    assert (await run_command(FakeServices(), "agents", "-q")).out == ""
