from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_pane_is_reserved_for_the_owner_for_15_minutes() -> None:
    data = (await run_command(await build_sample_services(), "robot", "reserve", "2", "--owner", "bob")).envelope[
        "data"
    ]
    assert (data["pane"], data["owner"], data["left"]) == (2, "bob", 900.0)


async def test_without_an_owner_the_caller_is_the_owner() -> None:
    out = (await run_command(await build_sample_services(), "reserve", "2")).out
    assert "reserved for human:1000" in out
    assert "you may act as usual" in out


async def test_a_pane_reserved_by_another_owner_is_a_conflict() -> None:
    answered = await run_command(await build_sample_services(), "robot", "reserve", "1", "--owner", "bob")
    assert (answered.status, answered.envelope["error"]["code"]) == (75, "reserved")
