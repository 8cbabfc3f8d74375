from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_pane_is_held_for_a_quarter_of_an_hour_by_who_is_named() -> None:
    data = (await run_command(await build_sample_services(), "robot", "reserve", "2", "--owner", "bob")).envelope[
        "data"
    ]
    assert (data["pane"], data["owner"], data["left"]) == (2, "bob", 900.0)


async def test_without_a_name_the_caller_holds_it() -> None:
    assert "--owner human:1000" in (await run_command(await build_sample_services(), "reserve", "2")).out


async def test_what_somebody_holds_is_not_given_to_another() -> None:
    answered = await run_command(await build_sample_services(), "robot", "reserve", "1", "--owner", "bob")
    assert (answered.status, answered.envelope["error"]["code"]) == (75, "reserved")
