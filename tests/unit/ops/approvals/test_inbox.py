import asyncio

from msgspec.structs import replace

from termvisor.testing.asking import ask, lively


async def test_open_questions_are_listed_and_closed_ones_on_request() -> None:
    world = await lively()
    assert "`visor approve 1`" in (await ask(world, "inbox")).out
    await ask(world, "deny", "1")
    assert (await ask(world, "inbox")).out == "Nothing is asked.\n"
    assert (await ask(world, "robot", "inbox", "--all")).envelope["data"]["items"][0]["state"] == "denied"


async def test_it_waits_until_somebody_asks() -> None:
    world = await lively()
    question = world.door.inbox.approvals.pop()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ask(world, "robot", "inbox", "--wait", "60"))
        await world.clock.until_asleep()
        world.door.inbox.ask(replace(question, id=0))
    assert waiting.result().envelope["data"]["summary"] == {"questions": 1, "open": 1}


async def test_it_does_not_wait_for_ever() -> None:
    world = await lively()
    world.door.inbox.approvals.clear()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ask(world, "robot", "inbox", "--wait", "60"))
        await world.clock.until_asleep()
        await world.clock.advance(61)
    assert waiting.result().envelope["data"]["items"] == []
