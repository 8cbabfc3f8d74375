import asyncio
import os
from contextlib import aclosing

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import call_operation, stream_operation
from termvisor.ops.api.services import LocalServices
from termvisor.ops.system.logs import LogTail
from termvisor.settings import Paths
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command


@pytest.fixture
def places(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    places = Paths(*(str(tmp_path_factory.mktemp(name)) for name in ("config", "data", "run")))
    os.makedirs(os.path.dirname(places.log_file))
    return places


def _write_lines(path: str, first: int, last: int) -> None:
    with open(path, "w") as file:
        file.writelines(f"fact {number}\n" for number in range(first, last))


async def test_before_the_first_start_there_is_no_log(places: Paths) -> None:
    answered = await run_command(LocalServices(places), "logs")
    assert (answered.out, answered.status) == (f"{places.log_file} is empty: no daemon has run yet.\n", 0)
    assert (await run_command(LocalServices(places), "logs", "-q")).out == ""


async def test_the_last_lines_come_oldest_first(places: Paths) -> None:
    _write_lines(places.log_file, 0, 100)
    assert (await run_command(LocalServices(places), "logs", "-n", "2")).out == "fact 98\nfact 99\n"


async def test_lines_are_read_across_a_rotation(places: Paths) -> None:
    _write_lines(places.log_file + ".1", 0, 100)
    _write_lines(places.log_file, 100, 101)
    assert (await run_command(LocalServices(places), "logs", "-n", "3")).out == "fact 98\nfact 99\nfact 100\n"


async def test_a_long_log_is_read_from_its_end_only(places: Paths) -> None:
    _write_lines(places.log_file, 0, 100_000)
    lines = (await run_command(LocalServices(places), "robot", "logs")).envelope["data"]["lines"]
    assert (len(lines), lines[0], lines[-1]) == (50, "fact 99950", "fact 99999")


async def test_log_lines_are_sanitized_and_redacted(places: Paths) -> None:
    with open(places.log_file, "w") as file:
        file.write("title \x1b]0;x\x07 token ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5 end\n")
    out = (await run_command(LocalServices(places), "logs")).out
    assert out == "title  token ghp_[redacted:github_token] end\n"


def _append_lines(path: str, *lines: str) -> None:
    with open(path, "a") as file:
        file.writelines(f"{line}\n" for line in lines)


INFO_LINE = "2026-01-01 12:00:00,001 INFO    visor.daemon: starting"
ERROR_LINE = "2026-01-01 12:00:00,002 ERROR   visor.daemon: it fell"
TRACEBACK_LINE = "ZeroDivisionError: by accident"


async def test_a_level_selects_lines_with_their_tracebacks(places: Paths) -> None:
    _append_lines(places.log_file, INFO_LINE, ERROR_LINE, TRACEBACK_LINE, INFO_LINE)
    assert (
        await run_command(LocalServices(places), "logs", "--level", "warning")
    ).out == f"{ERROR_LINE}\n{TRACEBACK_LINE}\n"
    assert (await run_command(LocalServices(places), "logs", "--level", "debug")).out.count("\n") == 4
    assert (await run_command(LocalServices(places), "logs", "--level", "loud")).status == 2


async def test_following_continues_after_a_rotation(places: Paths) -> None:
    services = FakeServices(places)
    _append_lines(places.log_file, "one", "two")
    async with aclosing(stream_operation(services, "logs", {"follow": True, "tail": 1})) as pieces:
        assert (await anext(pieces)).lines == ("two",)
        _append_lines(places.log_file, "three", "token ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5")
        assert (await anext(pieces)).lines == ("three", "token ghp_[redacted:github_token]")
        _append_lines(places.log_file, "four")
        os.replace(places.log_file, places.log_file + ".1")
        _append_lines(places.log_file, "five")
        coming = asyncio.ensure_future(anext(pieces))
        await services.clock.wait_until_asleep()
        await services.clock.advance(1)
        assert (await coming).lines == ("four", "five")


async def test_an_incomplete_line_is_held_until_its_newline(places: Paths) -> None:
    tail = LogTail(places.log_file)
    assert tail.read_new_lines() == []
    with open(places.log_file, "w") as file:
        file.write("hal")
        file.flush()
        assert tail.read_new_lines() == []
        file.write("f\nnext")
        file.flush()
        assert tail.read_new_lines() == ["half"]


async def test_following_is_a_stream_and_not_available_to_calls(places: Paths) -> None:
    with pytest.raises(BadRequest, match="logs is a stream"):
        await call_operation(FakeServices(places), "logs", {"follow": True})
