import asyncio

from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_open_requests_are_listed_and_closed_ones_on_request() -> None:
    services = await build_sample_services()
    assert "`visor approve 1`" in (await run_command(services, "inbox")).out
    await run_command(services, "deny", "1")
    assert (await run_command(services, "inbox")).out == "No open approval requests.\n"
    assert (await run_command(services, "robot", "inbox", "--all")).envelope["data"]["items"][0]["state"] == "denied"


async def test_inbox_wait_returns_when_a_request_arrives() -> None:
    services = await build_sample_services()
    (question,), (entry,) = services.gate.requests, services.gate.entries
    services.run_sql("DELETE FROM question")
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(services, "robot", "inbox", "--wait", "60"))
        await services.clock.wait_until_asleep()
        services.gate.add_request(question, entry)
    assert waiting.result().envelope["data"]["summary"] == {"questions": 1, "open": 1}


async def test_inbox_wait_ends_at_its_timeout() -> None:
    services = await build_sample_services()
    services.run_sql("DELETE FROM question")
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(run_command(services, "robot", "inbox", "--wait", "60"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(61)
    assert waiting.result().envelope["data"]["items"] == []
