from termvisor.model.ids import TargetName
from termvisor.model.terminal.pane import ServerInstance
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell


async def test_windows_are_listed_with_a_rollup_of_their_panes() -> None:
    world = MemoryWorld()
    world.pane(shell("%1"))
    world.pane(shell("%2"))
    world.pane(shell("%3", window=2))
    data = (await ask(world, "robot", "list-windows")).envelope["data"]
    assert [(item["identity"]["window_id"], item["panes"]) for item in data["items"]] == [("@1", [1, 2]), ("@2", [3])]
    assert data["items"][0]["by_activity"] == {"unknown": 2}
    assert data["summary"] == {"windows": 2, "panes": 3, "by_target": {"local": 2}}


async def test_windows_of_different_servers_are_never_taken_for_one() -> None:
    world = MemoryWorld()
    world.pane(shell("%1"))
    world.pane(shell("%1"), server=ServerInstance(TargetName("local"), "/run/tmux/second", 200, 1))
    assert (await ask(world, "robot", "list_windows")).envelope["data"]["summary"]["windows"] == 2


async def test_ended_panes_are_in_no_window() -> None:
    assert "3:main" not in (await ask(await lively(), "windows")).out
    assert (await ask(await lively(), "windows", "--pane", "3")).out == "No window fits.\n"


async def test_windows_say_what_their_agents_come_to() -> None:
    world = await lively(op="list_windows")
    items = (await ask(world, "robot", "list", "windows", "--with-agent-status")).envelope["data"]["items"]
    assert [(item["index"], item["top_state"], item["waiting"]) for item in items][:2] == [
        (2, "waiting_approval", 1),
        (4, "running", 0),
    ]
    assert [row["agent"] for row in items[0]["agent_rows"]] == ["claude_code"]
    assert (await ask(world, "robot", "windows", "--state", "running")).envelope["data"]["summary"]["windows"] == 1
    assert "2 claude_code waiting approval" in (await ask(world, "windows", "--with-agent-status")).out
