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
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import collect_answer, run_command
from termvisor.testing.sample_services import build_sample_services


async def test_output_is_bytes_followed_by_the_exit_status() -> None:
    services = await build_sample_services()
    chunks = [chunk async for chunk in dispatch_command_line(services, CommandContext(argv=("panes",), is_robot=False))]
    assert [type(chunk) for chunk in chunks] == [bytes, int]


async def test_a_text_error_goes_to_stderr_with_a_hint() -> None:
    chunks = [
        chunk
        async for chunk in dispatch_command_line(
            await build_sample_services(), CommandContext(argv=("get-text", "99"), is_robot=False)
        )
    ]
    assert chunks == [
        b"visor: pane '99' not found\nhint: Run `visor list-panes` to see all panes and their ids.\n",
        4,
    ]
    assert isinstance(chunks[0], StderrChunk)


async def test_quiet_errors_have_no_hint() -> None:
    assert (
        await run_command(await build_sample_services(), "get-text", "99", "-q")
    ).err == "visor: pane '99' not found\n"


async def test_a_robot_error_is_an_envelope_on_stdout() -> None:
    result = await run_command(await build_sample_services(), "robot", "get-text", "99")
    assert (result.err, result.status, result.envelope["ok"]) == ("", 4, False)
    assert list(result.envelope) == [
        "ok",
        "data",
        "error",
        "hint",
        "elapsed_ms",
        "version",
        "schema_version",
        "now",
    ]


async def test_the_output_format_can_be_chosen() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "panes", "--json")).envelope["ok"]
    assert (await run_command(services, "robot", "state", "--format", "plain")).out.startswith("ID  SESSION")
    assert (await run_command(services, "panes", "--format=markdown")).out.startswith("| ID |")
    assert (await run_command(services, "nope", "--json")).envelope["error"]["code"] == "unknown_command"


async def test_an_invalid_format_is_reported_in_the_default_format() -> None:
    assert (await run_command(await build_sample_services(), "robot", "state", "--format", "xml")).envelope["error"][
        "code"
    ] == "invalid_args"
    assert (await run_command(await build_sample_services(), "panes", "--format", "xml")).err.startswith(
        "visor: --format"
    )


async def test_escape_sequences_in_arguments_are_removed_from_errors() -> None:
    result = await run_command(await build_sample_services(), "get-text", "\x1b]0;x\x07\ud800")
    assert "\x1b" not in result.err
    assert (await run_command(await build_sample_services(), "robot", "get-text", "\ud800")).envelope["error"][
        "code"
    ] == "pane_not_found"


async def _raise_confirmation(_services: object, _args: object) -> None:
    raise ConfirmationRequired("this ends 3 programs", shown="- sleep 1\x1b[8m\n+\tnothing")


async def test_a_confirmation_shows_its_preview_before_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_raise_confirmation))
    result = await run_command(FakeServices(), "version", colour=True)
    seen = "\x1b[31m- sleep 1\x1b[0m\n\x1b[32m+\tnothing\x1b[0m\n"
    assert (result.question, result.status) == (seen + "this ends 3 programs\n", 2)
    assert result.err == f"{seen}visor: this ends 3 programs\nhint: {ConfirmationRequired.hint}\n"
    assert (await run_command(FakeServices(), "version", "-q")).err == "visor: this ends 3 programs\n"


async def test_a_robot_gets_the_preview_in_the_details(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_raise_confirmation))
    result = await run_command(FakeServices(), "robot", "version")
    assert result.question == ""
    assert result.envelope["error"] == {
        "code": "unconfirmed",
        "message": "this ends 3 programs",
        "details": {"shown": "- sleep 1\x1b[8m\n+\tnothing"},
    }


async def test_an_unexpected_exception_is_internal_and_not_raised() -> None:
    services = FakeServices()
    services.panes.list_panes = lambda **_: None.nothing  # type: ignore[method-assign,attr-defined]
    result = await run_command(services, "robot", "state")
    assert (result.envelope["error"]["code"], result.status) == ("internal", 70)
    assert (await run_command(services, "panes")).err.startswith("visor: internal error: AttributeError")


async def test_a_table_fits_a_terminal_and_is_complete_in_a_pipe() -> None:
    services = await build_sample_services()
    narrow = await collect_answer(services, CommandContext(argv=("panes",), is_robot=False, width=60, is_terminal=True))
    piped = await collect_answer(services, CommandContext(argv=("panes",), is_robot=False, width=60))
    assert max(map(len, narrow.out.splitlines())) <= 60
    assert "/home/me/project" in piped.out


async def test_items_of_a_long_stream_are_buffered() -> None:
    services = await build_sample_services()
    services.print_lines((await services.panes.list_panes())[0].id, *("x" * 100 for _ in range(2000)))
    chunks = [
        chunk async for chunk in dispatch_command_line(services, CommandContext(argv=("export", "1"), is_robot=False))
    ]
    assert len(chunks) == 5


async def test_a_disconnected_client_ends_its_stream() -> None:
    services = await build_sample_services()
    async with aclosing(
        dispatch_command_line(services, CommandContext(argv=("watch-events",), is_robot=True))
    ) as chunks:
        waiting = asyncio.ensure_future(anext(chunks))
        await let_tasks_run()
        waiting.cancel()
        await let_tasks_run()
    assert not services.event_log.events._subscriptions


async def test_a_call_accepts_and_returns_values() -> None:
    listing = await call_operation(await build_sample_services(), "list_panes", {"session": "work"})
    assert isinstance(listing, PaneListing)
    assert listing.summary.panes == 1
    assert type(await call_operation(await build_sample_services(), "state", {})) is PaneListing


async def test_an_invalid_call_raises_its_error() -> None:
    services = await build_sample_services()
    with pytest.raises(UnknownCommand):
        await call_operation(services, "nope", {})
    with pytest.raises(BadRequest, match="unknown parameter 'sesion'"):
        await call_operation(services, "list_panes", {"sesion": "a"})
    with pytest.raises(BadRequest, match="--tail: Expected `int`"):
        await call_operation(services, "get_text", {"pane": "1", "tail": "many"})
    with pytest.raises(NotFound):
        await call_operation(services, "get_text", {"pane": "99"})
    with pytest.raises(BadRequest, match="watch_events is a stream"):
        await call_operation(services, "watch_events", {})


async def test_stream_operation_yields_items_or_the_single_result() -> None:
    services = await build_sample_services()
    events = [item async for item in stream_operation(services, "watch_events", {"once": True})]
    panes = [item async for item in stream_operation(services, "list_panes", {})]
    assert (len(events), len(panes)) == (4, 1)
