from termvisor.model.ids import TargetName
from termvisor.model.terminal.pane import ServerInstance
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_windows_are_listed_with_a_rollup_of_their_panes() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1"))
    services.add_pane(build_shell_facts("%2"))
    services.add_pane(build_shell_facts("%3", window=2))
    data = (await run_command(services, "robot", "list-windows")).envelope["data"]
    assert [(item["identity"]["window_id"], item["panes"]) for item in data["items"]] == [("@1", [1, 2]), ("@2", [3])]
    assert data["items"][0]["by_activity"] == {"unknown": 2}
    assert data["summary"] == {"windows": 2, "panes": 3, "by_target": {"local": 2}}


async def test_windows_of_different_servers_are_not_merged() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1"))
    services.add_pane(build_shell_facts("%1"), server=ServerInstance(TargetName("local"), "/run/tmux/second", 200, 1))
    assert (await run_command(services, "robot", "list_windows")).envelope["data"]["summary"]["windows"] == 2


async def test_closed_panes_are_in_no_window() -> None:
    assert "3:main" not in (await run_command(await build_sample_services(), "windows")).out
    assert (await run_command(await build_sample_services(), "windows", "--pane", "3")).out == "No matching windows.\n"


async def test_windows_have_agent_totals() -> None:
    services = await build_sample_services(op="list_windows")
    items = (await run_command(services, "robot", "list", "windows", "--with-agent-status")).envelope["data"]["items"]
    assert [(item["index"], item["top_state"], item["waiting"]) for item in items][:2] == [
        (2, "waiting_approval", 1),
        (4, "running", 0),
    ]
    assert [row["agent"] for row in items[0]["agent_rows"]] == ["claude_code"]
    assert (await run_command(services, "robot", "windows", "--state", "running")).envelope["data"]["summary"][
        "windows"
    ] == 1
    assert "2 claude_code waiting approval" in (await run_command(services, "windows", "--with-agent-status")).out
