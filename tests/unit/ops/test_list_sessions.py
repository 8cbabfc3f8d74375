from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell


async def test_sessions_are_listed_with_totals() -> None:
    world = MemoryWorld()
    world.pane(shell("%1", session_attached=1))
    world.pane(shell("%2", window=2, session_attached=1))
    world.pane(shell("%3", session="other"))
    data = (await ask(world, "robot", "sessions")).envelope["data"]
    found = {item["identity"]["session_name"]: item for item in data["items"]}
    assert (found["work"]["windows"], found["work"]["panes"], found["work"]["attached"]) == (2, [1, 2], 1)
    assert data["summary"] == {"sessions": 2, "windows": 3, "panes": 3, "by_target": {"local": 2}}


async def test_people_see_a_row_a_session() -> None:
    lines = (await ask(await lively(), "sessions")).out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["SESSION", "agents", "work"]
    assert (await ask(MemoryWorld(), "sessions")).out == "No sessions.\n"
