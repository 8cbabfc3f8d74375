import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from msgspec.structs import replace

from termvisor.model.ids import PaneId
from termvisor.ops.api.dispatch import CommandContext, dispatch_command_line, stream_operation
from termvisor.ops.audit.audit import AuditListing
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

TOKEN = "ghp_" + "a1B2" * 9


async def test_the_audit_log_is_filtered_and_continued_from_a_cursor() -> None:
    services = await build_sample_services()
    data = (await run_command(services, "robot", "audit", "--pane", "1", "--kind", "send_text")).envelope["data"]
    assert (data["cursor"], data["items"][0]["what"]) == (1, "type 'make deploy' and press Enter")
    assert (await run_command(services, "robot", "audit", "--after", "1")).envelope["data"]["items"] == []
    assert (await run_command(services, "robot", "audit", "--since", "1s")).envelope["data"]["items"] == []
    assert (await run_command(FakeServices(), "audit")).out == "No audit entries.\n"


async def test_a_misspelled_kind_is_not_an_empty_audit_log() -> None:
    result = await run_command(await build_sample_services(), "audit", "--kind", "send_txt")
    assert result.status == 2
    assert "send_text" in result.err


async def test_secrets_and_escapes_of_old_entries_are_removed() -> None:
    services = await build_sample_services()
    evil = replace(services.gate.entries[0], action={"text": f"x {TOKEN}"}, why="\x1b[2J\nforged", place=TOKEN)
    services.gate.add_entry(evil)
    for words in (("audit",), ("robot", "audit")):
        out = (await run_command(services, *words)).out
        assert TOKEN not in out
        assert "\x1b" not in out


async def test_the_audit_log_of_a_deleted_pane_is_found_by_its_number() -> None:
    services = await build_sample_services()
    services.gate.add_entry(replace(services.gate.entries[0], pane=PaneId(900)))
    (item,) = (await run_command(services, "robot", "audit", "--pane", "900")).envelope["data"]["items"]
    assert item["pane"] == 900
    for unknown in ("901", "9" * 40, "nowhere"):
        assert (await run_command(services, "robot", "audit", "--pane", unknown)).envelope["error"][
            "code"
        ] == "pane_not_found"


async def _ids(services: FakeServices, *words: str) -> list[int]:
    return [item["id"] for item in (await run_command(services, "robot", "audit", *words)).envelope["data"]["items"]]


async def test_entries_are_filtered_by_caller_outcome_correlation_and_time() -> None:
    services = await build_sample_services()
    asked = services.gate.entries[0]
    await services.clock.advance(60)
    done = replace(asked, stage="outcome", outcome="done", correlation="event:12.4.1.1", at=services.clock.now())
    services.gate.add_entry(done)
    assert await _ids(services, "--actor", "robot") == await _ids(services, "--actor", "builder") == [1, 2]
    assert await _ids(services, "--actor", "human") == []
    assert await _ids(services, "--outcome", "done") == await _ids(services, "--correlation", "event:12") == [2]
    assert await _ids(services, "--until", "30s") == [1]
    assert (await run_command(services, "audit", "--outcome", "dun")).status == 2


async def _next(items: AsyncIterator[object]) -> AuditListing:
    piece = await anext(items)
    assert isinstance(piece, AuditListing)
    return piece


async def test_follow_prints_each_entry_as_it_is_logged() -> None:
    services = await build_sample_services()
    entry = services.gate.entries[0]
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "audit", {"follow": True})) as items:
        assert [item.id for item in (await _next(items)).items] == [1]
        second = group.create_task(_next(items))
        await let_tasks_run()
        services.gate.add_entry(entry)
        assert ([item.id for item in (await second).items], second.result().is_continued) == ([2], True)


async def test_a_stream_resumes_from_its_cursor_without_loss_or_duplicates() -> None:
    services = await build_sample_services()
    await services.store.audit.add(services.gate.entries * 3000)
    received_ids: list[int] = []
    cursor = 0
    for pieces in (1, 2, 1):
        async with aclosing(
            stream_operation(services, "audit", {"follow": True, "after": cursor, "limit": 1000})
        ) as items:
            for piece in [await _next(items) for _ in range(pieces)]:
                received_ids += [item.id for item in piece.items]
                cursor = piece.cursor
    assert received_ids == list(range(1, 3002))


async def test_follow_applies_the_filters() -> None:
    services = await build_sample_services()
    entry = services.gate.entries[0]
    wanted = {"follow": True, "kind": "kill"}
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "audit", wanted)) as items:
        assert (await _next(items)).items == ()
        result = group.create_task(_next(items))
        await let_tasks_run()
        services.gate.add_entry(entry)
        await let_tasks_run()
        services.gate.add_entry(replace(entry, kind="kill", action={}))
        assert [item.id for item in (await result).items] == [3]


async def test_follow_prints_a_line_per_entry_or_a_json_object_per_line() -> None:
    services = await build_sample_services()
    services.gate.add_entry(replace(services.gate.entries[0], undoes="c0ffee"))
    argv = ("audit", "--follow", "--after", "0", "--limit", "1")
    async with aclosing(dispatch_command_line(services, CommandContext(argv=argv, is_robot=False))) as pieces:
        first, second = await anext(pieces), await anext(pieces)
    assert isinstance(first, bytes) and first.splitlines()[0].startswith(b"ID")
    assert isinstance(second, bytes) and second.startswith(b"2  ") and second.count(b"\n") == 1
    assert b"(undoes c0ffee)" in second
    async with aclosing(dispatch_command_line(services, CommandContext(argv=argv, is_robot=True))) as pieces:
        assert b"\n" not in (await anext(pieces) or b"")[:-1]  # type: ignore[index]


async def test_follow_cannot_be_combined_with_until() -> None:
    assert (await run_command(await build_sample_services(), "audit", "--follow", "--until", "today")).status == 2
