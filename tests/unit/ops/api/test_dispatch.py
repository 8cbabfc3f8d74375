import asyncio
from contextlib import aclosing

import msgspec
import pytest

from termvisor.errors import BadRequest, ConfirmationRequired, NotFound, UnknownCommand
from termvisor.ops.api.dispatch import (
    CommandContext,
    StderrChunk,
    call_operation,
    dispatch_command_line,
    stream_operation,
)
from termvisor.ops.panes.list_panes import PaneListing
from termvisor.ops.system import version
from termvisor.testing.fake_services import FakeServices, let_tasks_run
from termvisor.testing.operation_calls import build_sample_services, collect_answer, run_command


async def test_an_answer_is_bytes_and_last_the_exit_status() -> None:
    world = await build_sample_services()
    pieces = [piece async for piece in dispatch_command_line(world, CommandContext(argv=("panes",), is_robot=False))]
    assert [type(piece) for piece in pieces] == [bytes, int]


async def test_an_error_of_a_person_goes_to_stderr_with_a_hint() -> None:
    pieces = [
        piece
        async for piece in dispatch_command_line(
            await build_sample_services(), CommandContext(argv=("get-text", "99"), is_robot=False)
        )
    ]
    assert pieces == [
        b"visor: no pane is called '99'\nhint: `visor list-panes` shows the panes and how to name them.\n",
        4,
    ]
    assert isinstance(pieces[0], StderrChunk)


async def test_quiet_errors_have_no_hint() -> None:
    assert (
        await run_command(await build_sample_services(), "get-text", "99", "-q")
    ).err == "visor: no pane is called '99'\n"


async def test_an_error_of_a_robot_is_an_envelope_on_stdout() -> None:
    answered = await run_command(await build_sample_services(), "robot", "get-text", "99")
    assert (answered.err, answered.status, answered.envelope["ok"]) == ("", 4, False)
    assert list(answered.envelope) == [
        "ok",
        "data",
        "error",
        "hint",
        "elapsed_ms",
        "version",
        "schema_version",
        "now",
    ]


async def test_a_person_may_ask_for_json_and_a_robot_for_text() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "panes", "--json")).envelope["ok"]
    assert (await run_command(world, "robot", "state", "--format", "plain")).out.startswith("ID  SESSION")
    assert (await run_command(world, "panes", "--format=markdown")).out.startswith("| ID |")
    assert (await run_command(world, "nope", "--json")).envelope["error"]["code"] == "unknown_command"


async def test_a_wrong_format_is_told_in_the_callers_own_way() -> None:
    assert (await run_command(await build_sample_services(), "robot", "state", "--format", "xml")).envelope["error"][
        "code"
    ] == "invalid_args"
    assert (await run_command(await build_sample_services(), "panes", "--format", "xml")).err.startswith(
        "visor: --format"
    )


async def test_a_hostile_argument_cannot_write_on_the_terminal() -> None:
    answered = await run_command(await build_sample_services(), "get-text", "\x1b]0;x\x07\ud800")
    assert "\x1b" not in answered.err
    assert (await run_command(await build_sample_services(), "robot", "get-text", "\ud800")).envelope["error"][
        "code"
    ] == "pane_not_found"


async def _refused(_world: object, _wanted: object) -> None:
    raise ConfirmationRequired("this ends 3 programs", shown="- sleep 1\x1b[8m\n+\tnothing")


async def test_what_must_be_confirmed_is_shown_before_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_refused))
    answered = await run_command(FakeServices(), "version", colour=True)
    seen = "\x1b[31m- sleep 1\x1b[0m\n\x1b[32m+\tnothing\x1b[0m\n"
    assert (answered.question, answered.status) == (seen + "this ends 3 programs\n", 2)
    assert answered.err == f"{seen}visor: this ends 3 programs\nhint: {ConfirmationRequired.hint}\n"
    assert (await run_command(FakeServices(), "version", "-q")).err == "visor: this ends 3 programs\n"


async def test_a_robot_gets_what_it_should_look_at_in_the_details(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_refused))
    answered = await run_command(FakeServices(), "robot", "version")
    assert answered.question == ""
    assert answered.envelope["error"] == {
        "code": "unconfirmed",
        "message": "this ends 3 programs",
        "details": {"shown": "- sleep 1\x1b[8m\n+\tnothing"},
    }


async def test_an_unexpected_exception_is_internal_and_not_raised() -> None:
    world = FakeServices()
    world.panes.views.append(None)  # type: ignore[arg-type]
    answered = await run_command(world, "robot", "state")
    assert (answered.envelope["error"]["code"], answered.status) == ("internal", 70)
    assert (await run_command(world, "panes")).err.startswith("visor: internal error: AttributeError")


async def test_a_table_fits_a_terminal_and_is_whole_in_a_pipe() -> None:
    world = await build_sample_services()
    narrow = await collect_answer(world, CommandContext(argv=("panes",), is_robot=False, width=60, is_terminal=True))
    piped = await collect_answer(world, CommandContext(argv=("panes",), is_robot=False, width=60))
    assert max(map(len, narrow.out.splitlines())) <= 60
    assert "/home/me/project" in piped.out


async def test_items_of_a_long_stream_travel_together() -> None:
    world = await build_sample_services()
    world.print_lines((await world.panes.list_panes())[0].id, *("x" * 100 for _ in range(2000)))
    pieces = [
        piece async for piece in dispatch_command_line(world, CommandContext(argv=("export", "1"), is_robot=False))
    ]
    assert len(pieces) == 5


async def test_a_caller_that_leaves_ends_its_stream() -> None:
    world = await build_sample_services()
    async with aclosing(dispatch_command_line(world, CommandContext(argv=("watch-events",), is_robot=True))) as pieces:
        waiting = asyncio.ensure_future(anext(pieces))
        await let_tasks_run()
        waiting.cancel()
        await let_tasks_run()
    assert world.updates.listener_count == 0


async def test_a_call_takes_and_gives_values() -> None:
    listing = await call_operation(await build_sample_services(), "list_panes", {"session": "work"})
    assert isinstance(listing, PaneListing)
    assert listing.summary.panes == 1
    assert type(await call_operation(await build_sample_services(), "state", {})) is PaneListing


async def test_a_wrong_call_raises_its_error() -> None:
    world = await build_sample_services()
    with pytest.raises(UnknownCommand):
        await call_operation(world, "nope", {})
    with pytest.raises(BadRequest, match="unknown parameter 'sesion'"):
        await call_operation(world, "list_panes", {"sesion": "a"})
    with pytest.raises(BadRequest, match="--tail: Expected `int`"):
        await call_operation(world, "get_text", {"pane": "1", "tail": "many"})
    with pytest.raises(NotFound):
        await call_operation(world, "get_text", {"pane": "99"})
    with pytest.raises(BadRequest, match="watch_events is a stream"):
        await call_operation(world, "watch_events", {})


async def test_a_stream_gives_items_and_anything_else_its_one_answer() -> None:
    world = await build_sample_services()
    events = [item async for item in stream_operation(world, "watch_events", {"once": True})]
    panes = [item async for item in stream_operation(world, "list_panes", {})]
    assert (len(events), len(panes)) == (4, 1)
