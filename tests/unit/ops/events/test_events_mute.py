import pytest

from termvisor.testing.operation_calls import build_sample_services, run_command

OP = "events_mute"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("*",), "mute everything"),
        (("*.*",), "mute everything"),
        (("no good",), "no rule, type or glob"),
        (("usage.*", "--for", "soon"), "no span of time"),
        (("usage.*", "--pane", "77"), "77"),
        (("usage.warnign",), "Did you mean usage.warning"),
        (("visor-deploy",), "Did you mean user_var.visor-deploy?"),
        (("no.such.rule.at.all",), "`visor rules list` shows the rules"),
    ],
)
async def test_what_cannot_be_muted(words: tuple[str, ...], why: str) -> None:
    answered = await run_command(await build_sample_services(op=OP), "events", "mute", *words)
    assert answered.status != 0
    assert why in answered.err


async def test_a_mute_of_one_pane_may_be_about_everything_and_ends_when_it_should() -> None:
    world = await build_sample_services(op=OP)
    told = (await run_command(world, "robot", "events", "mute", "*", "--pane", "1", "--for", "2h")).envelope["data"]
    assert (told["id"], told["pane"]) == (2, 1)
    assert len((await run_command(world, "robot", "events", "mutes")).envelope["data"]["items"]) == 2
    await world.clock.advance(2 * 3600)
    assert (await run_command(world, "events", "mutes")).out == "Nothing is muted.\n"


async def test_a_mute_is_ended_by_its_number() -> None:
    world = await build_sample_services(op=OP)
    assert (await run_command(world, "events", "unmute", "1")).out == "mute 1 has ended\n"
    answered = await run_command(world, "events", "unmute", "1")
    assert (answered.status, "there is no mute 1" in answered.err) == (4, True)
