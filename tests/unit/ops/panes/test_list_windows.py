from termvisor.model.ids import TargetName
from termvisor.model.terminal.pane import ServerInstance
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_windows_are_listed_with_a_rollup_of_their_panes() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts("%1"))
    world.add_pane(build_shell_facts("%2"))
    world.add_pane(build_shell_facts("%3", window=2))
    data = (await run_command(world, "robot", "list-windows")).envelope["data"]
    assert [(item["identity"]["window_id"], item["panes"]) for item in data["items"]] == [("@1", [1, 2]), ("@2", [3])]
    assert data["items"][0]["by_activity"] == {"unknown": 2}
    assert data["summary"] == {"windows": 2, "panes": 3, "by_target": {"local": 2}}


async def test_windows_of_different_servers_are_never_taken_for_one() -> None:
    world = FakeServices()
    world.add_pane(build_shell_facts("%1"))
    world.add_pane(build_shell_facts("%1"), server=ServerInstance(TargetName("local"), "/run/tmux/second", 200, 1))
    assert (await run_command(world, "robot", "list_windows")).envelope["data"]["summary"]["windows"] == 2


async def test_ended_panes_are_in_no_window() -> None:
    assert "3:main" not in (await run_command(await build_sample_services(), "windows")).out
    assert (await run_command(await build_sample_services(), "windows", "--pane", "3")).out == "No window fits.\n"


async def test_windows_say_what_their_agents_come_to() -> None:
    world = await build_sample_services(op="list_windows")
    items = (await run_command(world, "robot", "list", "windows", "--with-agent-status")).envelope["data"]["items"]
    assert [(item["index"], item["top_state"], item["waiting"]) for item in items][:2] == [
        (2, "waiting_approval", 1),
        (4, "running", 0),
    ]
    assert [row["agent"] for row in items[0]["agent_rows"]] == ["claude_code"]
    assert (await run_command(world, "robot", "windows", "--state", "running")).envelope["data"]["summary"][
        "windows"
    ] == 1
    assert "2 claude_code waiting approval" in (await run_command(world, "windows", "--with-agent-status")).out
