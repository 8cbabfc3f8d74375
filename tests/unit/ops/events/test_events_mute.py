import pytest

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

OP = "events_mute"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("*",), "mute all events"),
        (("*.*",), "mute all events"),
        (("no good",), "not a rule, event type or glob"),
        (("usage.*", "--for", "soon"), "not a duration"),
        (("usage.*", "--pane", "77"), "77"),
        (("usage.warnign",), "Did you mean usage.warning"),
        (("visor-deploy",), "Did you mean user_var.visor-deploy?"),
        (("no.such.rule.at.all",), "`visor rules list` shows the rules"),
    ],
)
async def test_an_invalid_mute_is_rejected_with_the_reason(words: tuple[str, ...], why: str) -> None:
    result = await run_command(await build_sample_services(op=OP), "events", "mute", *words)
    assert result.status != 0
    assert why in result.err


async def test_a_mute_of_one_pane_may_match_all_events_and_expires() -> None:
    services = await build_sample_services(op=OP)
    result = (await run_command(services, "robot", "events", "mute", "*", "--pane", "1", "--for", "2h")).envelope[
        "data"
    ]
    assert (result["id"], result["pane"]) == (2, 1)
    assert len((await run_command(services, "robot", "events", "mutes")).envelope["data"]["items"]) == 2
    await services.clock.advance(2 * 3600)
    assert (await run_command(services, "events", "mutes")).out == "Nothing is muted.\n"


async def test_a_mute_is_ended_by_its_number() -> None:
    services = await build_sample_services(op=OP)
    assert (await run_command(services, "events", "unmute", "1")).out == "mute 1 removed\n"
    result = await run_command(services, "events", "unmute", "1")
    assert (result.status, "mute 1 not found" in result.err) == (4, True)
