import asyncio
from contextlib import aclosing
from typing import Any

from termvisor.ops.api.dispatch import stream_operation
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def _take_next(services: FakeServices, items: Any) -> Any:
    pushed = asyncio.ensure_future(anext(items))
    for _ in range(8):
        await let_tasks_run()
        await services.clock.advance(1)
    return await asyncio.wait_for(pushed, 5)


async def test_open_requests_come_first_then_the_answer() -> None:
    services = await build_sample_services()
    async with aclosing(stream_operation(services, "watch_inbox", {})) as items:
        first = await anext(items)
        await services.gate.approvals.answer(1, "deny", reason="not now")
        update = await _take_next(services, items)
    assert (first.is_snapshot, first.open, [item.state for item in first.items]) == (True, 1, ["open"])
    assert [(item.id, item.state, item.reason) for item in update.items] == [(1, "denied", "not now")]
    assert update.open == 0


async def test_an_expired_request_is_reported_without_an_answer() -> None:
    services = await build_sample_services()
    async with aclosing(stream_operation(services, "watch_inbox", {})) as items:
        await anext(items)
        await services.clock.advance(600)
        update = await _take_next(services, items)
    assert [(item.id, item.state) for item in update.items] == [(1, "expired")]


async def test_an_agent_that_waits_without_a_request_is_listed() -> None:
    services = await build_sample_services(op="watch")
    async with aclosing(stream_operation(services, "watch_inbox", {})) as items:
        assert (await anext(items)).waiting == (ASKING_PANE,)
        services.agents.set_state(ASKING_PANE, "running")
        update = await _take_next(services, items)
    assert (update.waiting, update.items) == ((), ())


async def test_the_stream_is_readable_text_too() -> None:
    out = (await run_command(await build_sample_services(op="watch"), "watch-inbox", "--once")).out
    assert "1 open request\n1: type 'make deploy' and press Enter" in out
    assert f"waiting without a request: pane {ASKING_PANE}" in out
