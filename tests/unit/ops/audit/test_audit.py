import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from msgspec.structs import replace

from termvisor.model.ids import PaneId
from termvisor.ops.api.dispatch import CommandContext, dispatch_command_line, stream_operation
from termvisor.ops.audit.audit import AuditListing
from termvisor.testing.fake_services import FakeServices, let_tasks_run
from termvisor.testing.operation_calls import build_sample_services, run_command

TOKEN = "ghp_" + "a1B2" * 9


async def test_the_record_is_filtered_and_read_on_from_a_cursor() -> None:
    world = await build_sample_services()
    data = (await run_command(world, "robot", "audit", "--pane", "1", "--kind", "send_text")).envelope["data"]
    assert (data["cursor"], data["items"][0]["what"]) == (1, "type 'make deploy' and press Enter")
    assert (await run_command(world, "robot", "audit", "--after", "1")).envelope["data"]["items"] == []
    assert (await run_command(world, "robot", "audit", "--since", "1s")).envelope["data"]["items"] == []
    assert (await run_command(FakeServices(), "audit")).out == "Nothing is on record.\n"


async def test_a_misspelled_kind_is_not_an_empty_record() -> None:
    answered = await run_command(await build_sample_services(), "audit", "--kind", "send_txt")
    assert answered.status == 2
    assert "send_text" in answered.err


async def test_secrets_and_escapes_do_not_come_out_of_an_old_entry() -> None:
    world = await build_sample_services()
    evil = replace(world.gate.audit.entries[0], action={"text": f"x {TOKEN}"}, why="\x1b[2J\nforged", place=TOKEN)
    world.gate.audit.entries[0] = evil
    for words in (("audit",), ("robot", "audit")):
        out = (await run_command(world, *words)).out
        assert TOKEN not in out
        assert "\x1b" not in out


async def test_the_record_of_a_forgotten_pane_is_found_by_its_number() -> None:
    world = await build_sample_services()
    world.gate.audit.entries[0] = replace(world.gate.audit.entries[0], pane=PaneId(900))
    (item,) = (await run_command(world, "robot", "audit", "--pane", "900")).envelope["data"]["items"]
    assert item["pane"] == 900
    for nobody in ("901", "9" * 40, "nowhere"):
        assert (await run_command(world, "robot", "audit", "--pane", nobody)).envelope["error"][
            "code"
        ] == "pane_not_found"


async def _ids(world: FakeServices, *words: str) -> list[int]:
    return [item["id"] for item in (await run_command(world, "robot", "audit", *words)).envelope["data"]["items"]]


async def test_it_is_narrowed_by_caller_outcome_story_and_time() -> None:
    world = await build_sample_services()
    asked = world.gate.audit.entries[0]
    await world.clock.advance(60)
    done = replace(asked, stage="outcome", outcome="done", correlation="0ther", at=world.clock.now())
    world.gate.audit.add_entry(done)
    assert await _ids(world, "--actor", "robot") == await _ids(world, "--actor", "builder") == [1, 2]
    assert await _ids(world, "--actor", "human") == []
    assert await _ids(world, "--outcome", "done") == await _ids(world, "--correlation", "0ther") == [2]
    assert await _ids(world, "--until", "30s") == [1]
    assert (await run_command(world, "audit", "--outcome", "dun")).status == 2


async def _next(items: AsyncIterator[object]) -> AuditListing:
    piece = await anext(items)
    assert isinstance(piece, AuditListing)
    return piece


async def test_followed_it_tells_each_entry_as_it_is_put_on_record() -> None:
    world = await build_sample_services()
    entry = world.gate.audit.entries[0]
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(world, "audit", {"follow": True})) as items:
        assert [item.id for item in (await _next(items)).items] == [1]
        second = group.create_task(_next(items))
        await let_tasks_run()
        world.gate.audit.add_entry(entry)
        assert ([item.id for item in (await second).items], second.result().is_continued) == ([2], True)


async def test_after_a_break_it_resumes_without_loss_or_doubling() -> None:
    world = await build_sample_services()
    for _ in range(3000):
        world.gate.audit.add_entry(world.gate.audit.entries[0])
    heard: list[int] = []
    cursor = 0
    for pieces in (1, 2, 1):
        async with aclosing(
            stream_operation(world, "audit", {"follow": True, "after": cursor, "limit": 1000})
        ) as items:
            for piece in [await _next(items) for _ in range(pieces)]:
                heard += [item.id for item in piece.items]
                cursor = piece.cursor
    assert heard == list(range(1, 3002))


async def test_only_what_fits_is_followed() -> None:
    world = await build_sample_services()
    entry = world.gate.audit.entries[0]
    wanted = {"follow": True, "kind": "kill"}
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(world, "audit", wanted)) as items:
        assert (await _next(items)).items == ()
        told = group.create_task(_next(items))
        await let_tasks_run()
        world.gate.audit.add_entry(entry)
        await let_tasks_run()
        world.gate.audit.add_entry(replace(entry, kind="kill", action={}))
        assert [item.id for item in (await told).items] == [3]


async def test_people_read_a_line_an_entry_and_programs_an_object_a_line() -> None:
    world = await build_sample_services()
    world.gate.audit.add_entry(replace(world.gate.audit.entries[0], undoes="c0ffee"))
    argv = ("audit", "--follow", "--after", "0", "--limit", "1")
    async with aclosing(dispatch_command_line(world, CommandContext(argv=argv, is_robot=False))) as pieces:
        first, second = await anext(pieces), await anext(pieces)
    assert isinstance(first, bytes) and first.splitlines()[0].startswith(b"ID")
    assert isinstance(second, bytes) and second.startswith(b"2  ") and second.count(b"\n") == 1
    assert b"(undoes c0ffee)" in second
    async with aclosing(dispatch_command_line(world, CommandContext(argv=argv, is_robot=True))) as pieces:
        assert b"\n" not in (await anext(pieces) or b"")[:-1]  # type: ignore[index]


async def test_what_has_no_end_has_no_until() -> None:
    assert (await run_command(await build_sample_services(), "audit", "--follow", "--until", "today")).status == 2
