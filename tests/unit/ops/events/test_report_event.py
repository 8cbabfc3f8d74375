import base64

import pytest

from termvisor.testing.fake_services import TEST_NONCE, FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command

REPORT = ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready", "--value")


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    return world


async def test_what_a_hook_heard_is_stored_and_told(world: FakeServices) -> None:
    with world.updates.subscribe_events() as news:
        data = (await run_command(world, "robot", *REPORT, '{"port": 80}')).envelope["data"]
        assert [event.kind for event in news.drain()] == ["user_var"]
    expected = {"name": "visor-ready", "kind": "ready", "value": '{"port":80}', "proven": False, "source": "call"}
    assert (data["event"]["data"], data["event"]["pane"]) == (expected, 1)
    assert [event.data for event in await world.history.list_events()] == [expected]


async def test_only_the_nonce_proves_it(world: FakeServices) -> None:
    value = base64.b64encode(f'{{"nonce": "{TEST_NONCE}"}}'.encode()).decode()
    assert (await run_command(world, *REPORT, value)).out == "event 1: visor-ready of pane 1, proven\n"
    assert (await run_command(world, *REPORT, "{}")).out == "event 2: visor-ready of pane 1, not proven\n"
    assert TEST_NONCE not in (await run_command(world, "robot", "events")).out


async def test_a_pane_that_reports_too_much_is_told_so(world: FakeServices) -> None:
    world.updates.is_flooded = True
    assert "only counted" in (await run_command(world, *REPORT, "1")).out
    assert (await run_command(world, "robot", *REPORT, "1")).envelope["data"]["event"] is None


@pytest.mark.parametrize(
    "argv",
    [
        (*REPORT, "no json"),
        (*REPORT[:5], "other-name", "--value", "1"),
        ("event", "--pane", "1", "--name", "visor-ready", "--value", "1"),
        ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready"),
    ],
)
async def test_a_wrong_call_is_refused(world: FakeServices, argv: tuple[str, ...]) -> None:
    assert (await run_command(world, *argv)).status == 2
    assert await world.history.list_events() == []


async def test_a_pane_that_does_not_exist_reports_nothing(world: FakeServices) -> None:
    assert (await run_command(world, *REPORT[:3], "9", *REPORT[4:], "1")).status == 4
