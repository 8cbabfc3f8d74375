import asyncio

from msgspec.structs import replace

from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_open_questions_are_listed_and_closed_ones_on_request() -> None:
    world = await build_sample_services()
    assert "`visor approve 1`" in (await run_command(world, "inbox")).out
    await run_command(world, "deny", "1")
    assert (await run_command(world, "inbox")).out == "Nothing is asked.\n"
    assert (await run_command(world, "robot", "inbox", "--all")).envelope["data"]["items"][0]["state"] == "denied"


async def test_it_waits_until_somebody_asks() -> None:
    world = await build_sample_services()
    question = world.gate.approvals.approvals.pop()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(world, "robot", "inbox", "--wait", "60"))
        await world.clock.wait_until_asleep()
        world.gate.approvals.add_request(replace(question, id=0))
    assert waiting.result().envelope["data"]["summary"] == {"questions": 1, "open": 1}


async def test_it_does_not_wait_for_ever() -> None:
    world = await build_sample_services()
    world.gate.approvals.approvals.clear()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(world, "robot", "inbox", "--wait", "60"))
        await world.clock.wait_until_asleep()
        await world.clock.advance(61)
    assert waiting.result().envelope["data"]["items"] == []
