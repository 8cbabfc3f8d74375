"""Writes are retried while the disk or the database file is at fault."""

import asyncio

import apsw
import pytest

from termvisor.errors import StorageError
from termvisor.store.sqlite.database import DatabaseClosed
from termvisor.store.sqlite.retrying_database import RETRY_DELAY_S, WriteRetry
from termvisor.testing.fake_clock import FakeClock, let_tasks_run


def build_storage_error(cause: Exception) -> StorageError:
    error = StorageError("no")
    error.__cause__ = cause
    return error


class ScriptedDisk:
    def __init__(self, *answers: Exception | str):
        self._answers = list(answers)

    async def write(self) -> str:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_write_is_retried_and_the_problem_is_reported_meanwhile():
    clock = FakeClock()
    retry, disk = (
        WriteRetry(clock),
        ScriptedDisk(
            build_storage_error(apsw.FullError()),
            build_storage_error(OSError(30, "read-only")),
            build_storage_error(apsw.CorruptError()),
            StorageError("no"),
            "stored",
        ),
    )
    writing = asyncio.ensure_future(retry(disk.write))
    for _ in range(4):
        await clock.wait_until_asleep()
        assert retry.problem == "nothing can be stored: no"
        await clock.advance(RETRY_DELAY_S)
    assert (await writing, retry.problem) == ("stored", "")


async def test_a_closed_database_is_not_retried():
    with pytest.raises(DatabaseClosed):
        await WriteRetry(FakeClock())(ScriptedDisk(DatabaseClosed("closed")).write)


async def test_stop_retrying_raises_the_error():
    clock = FakeClock()
    retry = WriteRetry(clock)
    writing = asyncio.ensure_future(
        retry(ScriptedDisk(build_storage_error(apsw.IOError()), build_storage_error(apsw.IOError())).write)
    )
    await clock.wait_until_asleep()
    retry.stop_retrying()
    await clock.advance(RETRY_DELAY_S)
    await let_tasks_run()
    with pytest.raises(StorageError):
        await writing


async def test_retrying_store_uses_the_same_database(store, new_pane):
    waiting = store.with_write_retry(WriteRetry(FakeClock()))
    await waiting.output.open_epoch(await new_pane(), "pipe", 1)
    assert len(await store.output.list_open_epochs()) == len(await waiting.output.list_open_epochs()) == 1
