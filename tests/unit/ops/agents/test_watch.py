import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from termvisor.clock import NS, format_timestamp
from termvisor.ops.agents.watch import WatchItem
from termvisor.ops.api.dispatch import CommandContext, dispatch_command_line, stream_operation
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE, WORKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def _take(items: AsyncIterator[Any], count: int) -> list[WatchItem]:
    return [await anext(items) for _ in range(count)]


async def test_the_stream_starts_with_the_current_state() -> None:
    items = (await run_command(await build_sample_services(op="watch"), "robot", "watch", "--once")).items
    assert [(item["kind"], item["pane"], item["after"]) for item in items] == [
        ("state", 2, "waiting_approval"),
        ("state", 4, "running"),
        ("state", 5, "completed"),
        ("state", 6, "unknown"),
        ("summary_changed", None, None),
    ]
    assert items[-1]["summary"]["by_state"]["unknown"] == 1


async def test_a_change_is_streamed_with_before_and_after_then_the_totals() -> None:
    services = await build_sample_services(op="watch")
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "watch", {})) as items:
        await _take(items, 5)
        pushed = group.create_task(_take(items, 2))
        await let_tasks_run()
        assert not pushed.done()
        services.agents.set_state(ASKING_PANE, "running")
        change, total = await pushed
    assert (change.kind, change.before, change.after) == ("state_changed", "waiting_approval", "running")
    assert change.agent is not None
    assert change.agent.state == "running"
    assert total.summary is not None
    assert (total.kind, total.summary.running, total.summary.waiting) == ("summary_changed", 2, 0)


async def test_no_change_is_lost_between_two_streams() -> None:
    services = await build_sample_services(op="watch")
    async with aclosing(stream_operation(services, "watch", {})) as items:
        cursor = (await _take(items, 5))[-1].cursor
    for state in ("running", "waiting_input", "running"):
        services.agents.set_state(ASKING_PANE, state)
    async with aclosing(stream_operation(services, "watch", {"since_cursor": cursor, "once": True})) as items:
        result = [item async for item in items]
    assert [(item.before, item.after) for item in result[:-1]] == [
        ("waiting_approval", "running"),
        ("running", "waiting_input"),
        ("waiting_input", "running"),
    ]
    assert result[-1].kind == "summary_changed"


async def test_started_and_exited_agents_are_reported() -> None:
    services = await build_sample_services(op="watch")
    before = str(await services.store.events.find_newest_id())
    services.agents.end_agent(WORKING_PANE)
    services.agents.start_agent(WORKING_PANE, "cursor")
    items = (await run_command(services, "robot", "watch", "--since", before, "--once")).items
    result = [(item["kind"], item["pane"], item["name"]) for item in items]
    assert result[:2] == [("agent_ended", 4, "codex"), ("agent_began", 4, "cursor")]
    lines = (await run_command(services, "watch", "--since", before, "--once")).out.splitlines()
    assert [line[16:] for line in lines[:2]] == ["codex ended", "cursor started  cursor"]


async def test_windows_and_sessions_are_reported_only_when_their_totals_change() -> None:
    services = await build_sample_services(op="watch")
    async with (
        asyncio.TaskGroup() as group,
        aclosing(stream_operation(services, "watch", {"scope": "sessions"})) as items,
    ):
        first = await _take(items, 3)
        pushed = group.create_task(_take(items, 2))
        await let_tasks_run()
        services.agents.set_state(ASKING_PANE, "running")
        result = await pushed
    assert [item.place for item in first] == ["", "local/agents", "local/work"]
    assert [item.place for item in result] == ["", "local/agents"]
    windows = (await run_command(services, "robot", "watch", "--scope", "windows", "--once")).items
    assert len(windows) == 5


async def test_filters_apply_to_the_stream() -> None:
    services = await build_sample_services(op="watch")
    before = str(await services.store.events.find_newest_id())
    services.agents.set_state(ASKING_PANE, "running")
    services.agents.set_state(WORKING_PANE, "waiting_input")
    for words, panes in (
        (("--agent", "codex"), [4]),
        (("--state", "running"), [2]),
        (("--needs-action",), [4]),
        (("--session", "work"), []),
    ):
        items = (await run_command(services, "robot", "watch", "--since", before, "--once", *words)).items
        assert [item["pane"] for item in items if item["kind"] == "state_changed"] == panes


async def test_text_output_is_one_line_per_change_written_at_once() -> None:
    services = await build_sample_services(op="watch")
    before = str(await services.store.events.find_newest_id())
    services.agents.set_state(ASKING_PANE, "running")
    caller = CommandContext(argv=("watch", "--since", before), is_robot=False)
    async with aclosing(dispatch_command_line(services, caller)) as pieces:
        line = await anext(pieces)
    assert line == "12:02:15     2  claude_code  waiting approval → running  fix the tests\n".encode()


async def test_the_interval_delays_changes_without_dropping_any() -> None:
    services = await build_sample_services(op="watch")
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "watch", {"interval": 5.0})) as items:
        await _take(items, 5)
        pushed = group.create_task(_take(items, 4))
        await let_tasks_run()
        services.agents.set_state(ASKING_PANE, "running")
        await let_tasks_run()
        services.agents.set_state(ASKING_PANE, "waiting_input")
        await let_tasks_run()
        assert not pushed.done()
        await services.clock.advance(5)
        assert [item.after for item in await pushed] == ["running", None, "waiting_input", None]


async def test_watch_accepts_the_stream_formats() -> None:
    services = FakeServices()
    assert (await run_command(services, "watch", "--once", "--format", "jsonl")).items[0]["kind"] == "summary_changed"
    assert (await run_command(services, "watch", "--once", "--format", "table")).out == "12:00:00  0 agents: -\n"


@pytest.mark.parametrize(
    ("option", "code"), [("--since-cursor=yesterday", "invalid_cursor"), ("--since=soon", "invalid_args")]
)
async def test_an_invalid_start_is_an_error(option: str, code: str) -> None:
    result = await run_command(FakeServices(), "robot", "watch", option)
    assert (result.items[0]["error"]["code"], result.status) == (code, 2)


async def test_a_stream_starts_at_a_time() -> None:
    services = await build_sample_services(op="watch")
    await services.clock.advance(600)
    services.agents.set_state(ASKING_PANE, "running")
    await services.clock.advance(60)
    for operation in ("watch", "watch-events"):
        for since, count in (("2m", 1), (format_timestamp(services.clock.now() - 60 * NS), 1), ("30s", 0)):
            items = (await run_command(services, "robot", operation, "--since", since, "--once")).items
            assert sum(item["kind"] == "state_changed" for item in items) == count


async def test_an_unknown_agent_is_an_error_even_before_the_first_change() -> None:
    services = await build_sample_services(op="watch")
    result = await run_command(services, "robot", "watch", "--since-cursor", "0", "--once", "--agent", "claude_cod")
    assert (result.items[0]["error"]["code"], result.items[0]["hint"]) == ("invalid_args", "Did you mean claude_code?")
