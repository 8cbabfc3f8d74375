import asyncio
from contextlib import aclosing

import msgspec
import pytest

from termvisor.errors import BadRequest, NotFound, Unconfirmed, UnknownCommand
from termvisor.ops.api.dispatch import Caller, Stderr, answer, call, stream
from termvisor.ops.panes.list_panes import PaneListing
from termvisor.ops.system import version
from termvisor.testing.asking import ask, collect, lively
from termvisor.testing.world import MemoryWorld, settled


async def test_an_answer_is_bytes_and_last_the_exit_status() -> None:
    world = await lively()
    pieces = [piece async for piece in answer(world, Caller(argv=("panes",), is_robot=False))]
    assert [type(piece) for piece in pieces] == [bytes, int]


async def test_an_error_of_a_person_goes_to_stderr_with_a_hint() -> None:
    pieces = [piece async for piece in answer(await lively(), Caller(argv=("get-text", "99"), is_robot=False))]
    assert pieces == [
        b"visor: no pane is called '99'\nhint: `visor list-panes` shows the panes and how to name them.\n",
        4,
    ]
    assert isinstance(pieces[0], Stderr)


async def test_quiet_errors_have_no_hint() -> None:
    assert (await ask(await lively(), "get-text", "99", "-q")).err == "visor: no pane is called '99'\n"


async def test_an_error_of_a_robot_is_an_envelope_on_stdout() -> None:
    answered = await ask(await lively(), "robot", "get-text", "99")
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
    world = await lively()
    assert (await ask(world, "panes", "--json")).envelope["ok"]
    assert (await ask(world, "robot", "state", "--format", "plain")).out.startswith("ID  SESSION")
    assert (await ask(world, "panes", "--format=markdown")).out.startswith("| ID |")
    assert (await ask(world, "nope", "--json")).envelope["error"]["code"] == "unknown_command"


async def test_a_wrong_format_is_told_in_the_callers_own_way() -> None:
    assert (await ask(await lively(), "robot", "state", "--format", "xml")).envelope["error"]["code"] == "invalid_args"
    assert (await ask(await lively(), "panes", "--format", "xml")).err.startswith("visor: --format")


async def test_a_hostile_argument_cannot_write_on_the_terminal() -> None:
    answered = await ask(await lively(), "get-text", "\x1b]0;x\x07\ud800")
    assert "\x1b" not in answered.err
    assert (await ask(await lively(), "robot", "get-text", "\ud800")).envelope["error"]["code"] == "pane_not_found"


async def _refused(_world: object, _wanted: object) -> None:
    raise Unconfirmed("this ends 3 programs", shown="- sleep 1\x1b[8m\n+\tnothing")


async def test_what_must_be_confirmed_is_shown_before_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_refused))
    answered = await ask(MemoryWorld(), "version", colour=True)
    seen = "\x1b[31m- sleep 1\x1b[0m\n\x1b[32m+\tnothing\x1b[0m\n"
    assert (answered.shown, answered.status) == (seen + "this ends 3 programs\n", 2)
    assert answered.err == f"{seen}visor: this ends 3 programs\nhint: {Unconfirmed.hint}\n"
    assert (await ask(MemoryWorld(), "version", "-q")).err == "visor: this ends 3 programs\n"


async def test_a_robot_gets_what_it_should_look_at_in_the_details(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, run=_refused))
    answered = await ask(MemoryWorld(), "robot", "version")
    assert answered.shown == ""
    assert answered.envelope["error"] == {
        "code": "unconfirmed",
        "message": "this ends 3 programs",
        "details": {"shown": "- sleep 1\x1b[8m\n+\tnothing"},
    }


async def test_an_unexpected_exception_is_internal_and_not_raised() -> None:
    world = MemoryWorld()
    world.fleet.views.append(None)  # type: ignore[arg-type]
    answered = await ask(world, "robot", "state")
    assert (answered.envelope["error"]["code"], answered.status) == ("internal", 70)
    assert (await ask(world, "panes")).err.startswith("visor: internal error: AttributeError")


async def test_a_table_fits_a_terminal_and_is_whole_in_a_pipe() -> None:
    world = await lively()
    narrow = await collect(world, Caller(argv=("panes",), is_robot=False, width=60, is_terminal=True))
    piped = await collect(world, Caller(argv=("panes",), is_robot=False, width=60))
    assert max(map(len, narrow.out.splitlines())) <= 60
    assert "/home/me/project" in piped.out


async def test_items_of_a_long_stream_travel_together() -> None:
    world = await lively()
    world.say((await world.fleet.panes())[0].id, *("x" * 100 for _ in range(2000)))
    pieces = [piece async for piece in answer(world, Caller(argv=("export", "1"), is_robot=False))]
    assert len(pieces) == 5


async def test_a_caller_that_leaves_ends_its_stream() -> None:
    world = await lively()
    async with aclosing(answer(world, Caller(argv=("watch-events",), is_robot=True))) as pieces:
        waiting = asyncio.ensure_future(anext(pieces))
        await settled()
        waiting.cancel()
        await settled()
    assert world.news.listeners == 0


async def test_a_call_takes_and_gives_values() -> None:
    listing = await call(await lively(), "list_panes", {"session": "work"})
    assert isinstance(listing, PaneListing)
    assert listing.summary.panes == 1
    assert type(await call(await lively(), "state", {})) is PaneListing


async def test_a_wrong_call_raises_its_error() -> None:
    world = await lively()
    with pytest.raises(UnknownCommand):
        await call(world, "nope", {})
    with pytest.raises(BadRequest, match="unknown parameter 'sesion'"):
        await call(world, "list_panes", {"sesion": "a"})
    with pytest.raises(BadRequest, match="--tail: Expected `int`"):
        await call(world, "get_text", {"pane": "1", "tail": "many"})
    with pytest.raises(NotFound):
        await call(world, "get_text", {"pane": "99"})
    with pytest.raises(BadRequest, match="watch_events is a stream"):
        await call(world, "watch_events", {})


async def test_a_stream_gives_items_and_anything_else_its_one_answer() -> None:
    world = await lively()
    events = [item async for item in stream(world, "watch_events", {"once": True})]
    panes = [item async for item in stream(world, "list_panes", {})]
    assert (len(events), len(panes)) == (4, 1)
