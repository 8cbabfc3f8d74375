"""A worker thread runs callables in order and delivers results and exceptions."""

import asyncio
import threading

import pytest

from termvisor.store.sqlite.worker_thread import WorkerThread


@pytest.fixture
def worker():
    one = WorkerThread("test-worker")
    yield one
    one.close()


async def test_callables_run_in_order_in_one_thread(worker):
    done = []
    await asyncio.gather(*(worker.submit(lambda n=n: done.append((n, threading.get_ident()))) for n in range(50)))
    assert [number for number, _ in done] == list(range(50))
    assert len({thread for _, thread in done} | {threading.get_ident()}) == 2


async def test_result_and_exception_are_delivered(worker):
    assert await worker.submit(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        await worker.submit(lambda: 1 / 0)
    assert await worker.submit(lambda: "goes on") == "goes on"


async def test_callable_runs_also_if_its_caller_was_cancelled(worker):
    may_end, done = threading.Event(), []
    first = worker.submit(may_end.wait)
    second = worker.submit(lambda: done.append("second"))
    second.cancel()
    may_end.set()
    await first
    await worker.submit(lambda: done.append("third"))
    assert done == ["second", "third"]


async def test_close_finishes_the_queue(worker):
    done = []
    waiting = [worker.submit(lambda n=n: done.append(n)) for n in range(20)]
    await asyncio.to_thread(worker.close)
    await asyncio.gather(*waiting)
    assert done == list(range(20))
    with pytest.raises(RuntimeError, match="is closed"):
        worker.submit(lambda: None)


def test_closed_loop_does_not_block_the_thread(worker):
    may_end = threading.Event()

    async def leave() -> None:
        worker.submit(may_end.wait)

    asyncio.run(leave())
    may_end.set()
    assert asyncio.run(answer_of(worker)) == "still here"


async def answer_of(worker: WorkerThread) -> str:
    return await worker.submit(lambda: "still here")
