import base64

import pytest

from termvisor.testing.fake_services import TEST_NONCE, FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command

REPORT = ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready", "--value")


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    return services


async def test_a_reported_user_variable_is_stored(services: FakeServices) -> None:
    with services.updates.subscribe_events() as news:
        data = (await run_command(services, "robot", *REPORT, '{"port": 80}')).envelope["data"]
        assert [event.kind for event in news.drain()] == ["user_var"]
    expected = {"name": "visor-ready", "kind": "ready", "value": '{"port":80}', "proven": False, "source": "call"}
    assert (data["event"]["data"], data["event"]["pane"]) == (expected, 1)
    assert [event.data for event in await services.history.list_events()] == [expected]


async def test_only_a_report_with_the_nonce_is_proven(services: FakeServices) -> None:
    value = base64.b64encode(f'{{"nonce": "{TEST_NONCE}"}}'.encode()).decode()
    assert (await run_command(services, *REPORT, value)).out == "event 1: visor-ready of pane 1, proven\n"
    assert (await run_command(services, *REPORT, "{}")).out == "event 2: visor-ready of pane 1, not proven\n"
    assert TEST_NONCE not in (await run_command(services, "robot", "events")).out


async def test_a_pane_over_its_rate_limit_is_reported(services: FakeServices) -> None:
    while "counted, not stored" not in (await run_command(services, *REPORT, "1")).out:
        assert len(await services.history.list_events(limit=1000)) < 1000
    assert (await run_command(services, "robot", *REPORT, "1")).envelope["data"]["event"] is None


@pytest.mark.parametrize(
    "argv",
    [
        (*REPORT, "no json"),
        (*REPORT[:5], "other-name", "--value", "1"),
        ("event", "--pane", "1", "--name", "visor-ready", "--value", "1"),
        ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready"),
    ],
)
async def test_an_invalid_report_call_is_rejected(services: FakeServices, argv: tuple[str, ...]) -> None:
    assert (await run_command(services, *argv)).status == 2
    assert await services.history.list_events() == []


async def test_a_report_for_an_unknown_pane_is_rejected(services: FakeServices) -> None:
    assert (await run_command(services, *REPORT[:3], "9", *REPORT[4:], "1")).status == 4
