from termvisor.model.terminal.output import GAP_CAUSES
from termvisor.ops.panes.list_gaps import CAUSES
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld


def test_every_cause_is_explained() -> None:
    assert tuple(CAUSES) == GAP_CAUSES


async def test_gaps_say_where_when_and_why() -> None:
    data = (await ask(await lively(), "robot", "gaps")).envelope["data"]
    gap = data["items"][0]
    assert (gap["identity"]["id"], gap["cause"], gap["seconds"]) == (1, "pipe_stolen", 4.0)
    assert data["summary"] == {"gaps": 1, "open": 0, "by_cause": {"pipe_stolen": 1}}


async def test_an_open_gap_has_no_end() -> None:
    world = await lively()
    world.lose((await world.fleet.panes())[1].id, "link_down", None)
    assert "still open" in (await ask(world, "gaps", "--pane", "2")).out
    assert (await ask(world, "robot", "gaps")).envelope["data"]["summary"]["open"] == 1


async def test_gaps_are_filtered_by_session_and_time() -> None:
    world = await lively()
    assert (await ask(world, "robot", "gaps", "--session", "agents")).envelope["data"]["items"] == []
    assert (await ask(world, "robot", "gaps", "--since", "5s")).envelope["data"]["items"] == []
    assert (await ask(MemoryWorld(), "gaps")).out == "No gaps: everything was captured.\n"
