import base64

import pytest

from termvisor.testing.asking import ask
from termvisor.testing.world import NONCE, MemoryWorld, shell

REPORT = ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready", "--value")


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell())
    return world


async def test_what_a_hook_heard_is_stored_and_told(world: MemoryWorld) -> None:
    with world.news.events() as news:
        data = (await ask(world, "robot", *REPORT, '{"port": 80}')).envelope["data"]
        assert [event.kind for event in news.drain()] == ["user_var"]
    expected = {"name": "visor-ready", "kind": "ready", "value": '{"port":80}', "proven": False, "source": "call"}
    assert (data["event"]["data"], data["event"]["pane"]) == (expected, 1)
    assert [event.data for event in await world.history.events()] == [expected]


async def test_only_the_nonce_proves_it(world: MemoryWorld) -> None:
    value = base64.b64encode(f'{{"nonce": "{NONCE}"}}'.encode()).decode()
    assert (await ask(world, *REPORT, value)).out == "event 1: visor-ready of pane 1, proven\n"
    assert (await ask(world, *REPORT, "{}")).out == "event 2: visor-ready of pane 1, not proven\n"
    assert NONCE not in (await ask(world, "robot", "events")).out


async def test_a_pane_that_reports_too_much_is_told_so(world: MemoryWorld) -> None:
    world.news.is_flooded = True
    assert "only counted" in (await ask(world, *REPORT, "1")).out
    assert (await ask(world, "robot", *REPORT, "1")).envelope["data"]["event"] is None


@pytest.mark.parametrize(
    "argv",
    [
        (*REPORT, "no json"),
        (*REPORT[:5], "other-name", "--value", "1"),
        ("event", "--pane", "1", "--name", "visor-ready", "--value", "1"),
        ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready"),
    ],
)
async def test_a_wrong_call_is_refused(world: MemoryWorld, argv: tuple[str, ...]) -> None:
    assert (await ask(world, *argv)).status == 2
    assert await world.history.events() == []


async def test_a_pane_that_does_not_exist_reports_nothing(world: MemoryWorld) -> None:
    assert (await ask(world, *REPORT[:3], "9", *REPORT[4:], "1")).status == 4
