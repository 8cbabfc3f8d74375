"""The watching side waits for a disk that takes nothing; ops are told at once; nobody waits for a damaged file."""

import asyncio

import apsw
import pytest

from termvisor.errors import StorageError
from termvisor.store.sqlite.retrying_database import RETRY_DELAY_S, WriteRetry
from termvisor.testing.fake_services import FakeClock, let_tasks_run


def trouble(cause: Exception) -> StorageError:
    error = StorageError("no")
    error.__cause__ = cause
    return error


class Disk:
    def __init__(self, *answers: Exception | str):
        self._answers = list(answers)

    async def write(self) -> str:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_it_tries_again_until_it_is_stored_and_says_meanwhile_what_is_wrong():
    clock = FakeClock()
    patience, disk = WriteRetry(clock), Disk(trouble(apsw.FullError()), trouble(OSError(30, "read-only")), "stored")
    writing = asyncio.ensure_future(patience(disk.write))
    for _ in range(2):
        await clock.wait_until_asleep()
        assert patience.problem == "nothing can be stored: no"
        await clock.advance(RETRY_DELAY_S)
    assert (await writing, patience.problem) == ("stored", "")


@pytest.mark.parametrize("cause", [apsw.CorruptError(), apsw.NotADBError(), ValueError()])
async def test_what_no_waiting_mends_is_told_at_once(cause):
    with pytest.raises(StorageError):
        await WriteRetry(FakeClock())(Disk(trouble(cause)).write)


async def test_at_the_end_nobody_waits_any_longer():
    clock = FakeClock()
    patience = WriteRetry(clock)
    writing = asyncio.ensure_future(patience(Disk(trouble(apsw.IOError()), trouble(apsw.IOError())).write))
    await clock.wait_until_asleep()
    patience.stop_retrying()
    await clock.advance(RETRY_DELAY_S)
    await let_tasks_run()
    with pytest.raises(StorageError):
        await writing


async def test_the_waiting_store_is_the_same_memory(store, new_pane):
    waiting = store.with_write_retry(WriteRetry(FakeClock()))
    await waiting.output.open_epoch(await new_pane(), "pipe", 1)
    assert len(await store.output.list_open_epochs()) == len(await waiting.output.list_open_epochs()) == 1
