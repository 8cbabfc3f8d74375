"""A function in a worker process: its values, its error, its crash."""

import signal
from contextlib import aclosing
from pathlib import Path

import pytest

from termvisor.errors import ConfigError, InternalError, StorageError
from termvisor.system.procfs import read_start_time
from termvisor.system.worker import TIMED_OUT, call_worker, run_isolated_worker, run_worker, stream_worker

FUNCTIONS = """
import os, resource, signal, time
from collections.abc import Iterator
from termvisor.errors import ConfigError

def add(left: int, right: int) -> int:
    print("printed", flush=True)
    os.system("echo printed by a child")
    return left + right

def count(end: int) -> Iterator[int]:
    yield from range(end)
    os.kill(os.getpid(), signal.SIGSEGV)

def refuse(key: str) -> None:
    raise ConfigError(f"no such\\nkey: {key}", hint="Remove it.")

def fail(reason: str) -> None:
    raise ValueError(reason)

def read_core_limit(_: None) -> list[int]:
    return list(resource.getrlimit(resource.RLIMIT_CORE))

def beat(seconds: float) -> Iterator[int]:
    while True:
        yield os.getpid()
        time.sleep(seconds)
"""


@pytest.fixture(autouse=True)
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "worker_functions.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_the_result_is_returned_whatever_is_printed() -> None:
    done = run_worker("worker_functions:add", (2, 3), returns=int, timeout_s=60)
    assert (done.status, done.values, done.error) == (0, [5], None)
    assert done.stderr.splitlines() == ["printed", "printed by a child"]


def test_a_module_of_the_current_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "msgspec.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path / "here")
    assert run_worker("worker_functions:add", (2, 3), returns=int, timeout_s=60).values == [5]


def test_values_from_before_a_crash_are_returned() -> None:
    done = run_worker("worker_functions:count", (3,), returns=int, timeout_s=60)
    assert (done.status, done.values) == (-signal.SIGSEGV, [0, 1, 2])


def test_a_crash_leaves_no_core_file() -> None:
    assert run_worker("worker_functions:read_core_limit", (None,), returns=list[int], timeout_s=60).values == [[0, 0]]


def test_a_worker_is_killed_at_its_timeout() -> None:
    assert run_worker("worker_functions:beat", (60.0,), returns=int, timeout_s=1.0).status == TIMED_OUT


async def test_an_error_of_the_function_is_raised() -> None:
    with pytest.raises(ConfigError, match="no such\nkey: x") as caught:
        await call_worker("worker_functions:refuse", ("x",), returns=type(None), timeout_s=60, name="test")
    assert caught.value.hint == "Remove it."


@pytest.mark.parametrize("failure", [InternalError, StorageError])
async def test_any_other_failure_is_an_error_of_the_caller(failure: type[InternalError]) -> None:
    with pytest.raises(failure, match="the test worker failed: ValueError: disk full"):
        await call_worker(
            "worker_functions:fail", ("disk full",), returns=type(None), timeout_s=60, name="test", failure=failure
        )


async def test_an_isolated_worker_may_ignore_the_environment() -> None:
    done = await run_isolated_worker("worker_functions:add", (2, 3), returns=int, timeout_s=60, python_options=("-I",))
    assert (done.status, done.values, done.last_error_line) == (
        1,
        [],
        "ModuleNotFoundError: No module named 'worker_functions'",
    )
    assert (await run_isolated_worker("worker_functions:add", (2, 3), returns=int, timeout_s=60)).values == [5]


async def test_a_streaming_worker_is_killed_with_its_stream() -> None:
    async with aclosing(stream_worker("worker_functions:beat", (0.01,), returns=int)) as values:
        pid = await anext(values)
        assert await anext(values) == pid
    assert read_start_time(pid) == 0


async def test_a_stream_ends_when_its_worker_crashes() -> None:
    assert [value async for value in stream_worker("worker_functions:count", (2,), returns=int)] == [0, 1]
    # More than a pipe holds, to a worker that does not read it.
    missing = stream_worker("no_such_module:beat", ("x" * (1 << 20),), returns=int)
    assert [value async for value in missing] == []
