"""The async client against a real daemon process with fake services."""

import asyncio
import os
import signal

import pytest

from termvisor.client import connect
from termvisor.errors import BadRequest, NotFound, Unavailable, UnknownCommand
from termvisor.settings import Paths, make_instance_folders
from tests.unit.daemon.fake_request_handler import FakeRequestHandler, run_socket_server
from tests.unit.fake_daemon import make_private_paths


async def test_operations_are_called_by_name_and_return_plain_data(daemon: Paths) -> None:
    async with connect(daemon) as visor:
        listing = await visor.list_panes(session="work")
        assert [item["identity"]["id"] for item in listing["items"]] == [1, 2, 3]
        assert (await visor.get_text(pane="2"))["text"] == "hello from 2"


async def test_many_operations_run_concurrently_on_one_connection(daemon: Paths) -> None:
    async with connect(daemon) as visor:
        answers = await asyncio.gather(*(visor.get_text(pane=str(1 + number % 3)) for number in range(60)))
        texts = [answer["text"] for answer in answers]
        assert texts == [f"hello from {1 + number % 3}" for number in range(60)]


async def test_errors_are_raised_as_visor_errors(daemon: Paths) -> None:
    async with connect(daemon) as visor:
        with pytest.raises(NotFound):
            await visor.get_text(pane="99")
        with pytest.raises(UnknownCommand):
            await visor.no_such_thing()
        with pytest.raises(BadRequest):
            await visor.get_text(pane="1", nonsense=True)
        assert (await visor.version())["version"]


async def test_a_stream_ends_with_its_last_item(daemon: Paths) -> None:
    async with connect(daemon) as visor:
        assert [event async for event in visor.watch_events(once=True)] == []
        assert (await visor.health())["panes_tracked"] == 3


async def test_a_stream_closed_early_ends_in_the_daemon_too(folder: str) -> None:
    handler, places = FakeRequestHandler(), make_private_paths(folder)
    make_instance_folders(places)
    async with run_socket_server(places.daemon_socket, handler), connect(places, start=False) as visor:
        numbers = visor.watch_numbers(count=2, forever=True)
        assert [await anext(numbers), await anext(numbers)] == [0, 1]
        await handler.begun.wait()
        assert await visor.echo(word="meanwhile") == {"word": "meanwhile"}
        await numbers.aclose()
        await handler.cancelled.wait()


async def test_a_fast_stream_is_throttled_and_complete(folder: str) -> None:
    handler, places = FakeRequestHandler(), make_private_paths(folder)
    make_instance_folders(places)
    async with run_socket_server(places.daemon_socket, handler), connect(places, start=False) as visor:
        numbers = visor.watch_numbers(count=30_000)
        first = await anext(numbers)
        await visor.echo()
        assert [first, *[number async for number in numbers]] == list(range(30_000))


async def test_a_killed_daemon_ends_waiting_calls_with_unavailable(daemon: Paths) -> None:
    async with connect(daemon) as visor:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(_expect_unavailable(visor.wait_for(pane="1", pattern="never", timeout_secs=60)))
            await visor.health()
            os.kill(visor.daemon_pid, signal.SIGKILL)
            await waiting
        with pytest.raises(Unavailable):
            await visor.health()


async def test_without_start_a_missing_daemon_is_an_error(folder: str) -> None:
    with pytest.raises(Unavailable, match="no daemon is running"):
        async with connect(make_private_paths(folder), start=False):
            pass


@pytest.mark.parametrize("error", [KeyError, TimeoutError])
async def test_an_error_of_the_caller_passes_through_unchanged(daemon: Paths, error: type[Exception]) -> None:
    with pytest.raises(error, match="mine"):
        async with connect(daemon):
            raise error("mine")


async def _expect_unavailable(call: "asyncio.Future[object]") -> None:
    with pytest.raises(Unavailable):
        await call
