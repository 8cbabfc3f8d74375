"""One thread for the event loop: in order, with answers and errors, and nothing left behind at the end."""

import asyncio
import threading

import pytest

from termvisor.store.sqlite.worker_thread import WorkerThread


@pytest.fixture
def worker():
    one = WorkerThread("test-worker")
    yield one
    one.close()


async def test_what_is_handed_over_first_is_done_first_and_in_one_thread(worker):
    done = []
    await asyncio.gather(*(worker.submit(lambda n=n: done.append((n, threading.get_ident()))) for n in range(50)))
    assert [number for number, _ in done] == list(range(50))
    assert len({thread for _, thread in done} | {threading.get_ident()}) == 2


async def test_an_answer_comes_back_and_so_does_an_error(worker):
    assert await worker.submit(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        await worker.submit(lambda: 1 / 0)
    assert await worker.submit(lambda: "goes on") == "goes on"


async def test_work_is_done_also_when_its_caller_left_before_it_began(worker):
    may_end, done = threading.Event(), []
    first = worker.submit(may_end.wait)
    second = worker.submit(lambda: done.append("second"))
    second.cancel()
    may_end.set()
    await first
    await worker.submit(lambda: done.append("third"))
    assert done == ["second", "third"]


async def test_what_was_handed_over_is_finished_before_the_end(worker):
    done = []
    waiting = [worker.submit(lambda n=n: done.append(n)) for n in range(20)]
    await asyncio.to_thread(worker.close)
    await asyncio.gather(*waiting)
    assert done == list(range(20))
    with pytest.raises(RuntimeError, match="has ended"):
        worker.submit(lambda: None)


def test_a_loop_that_is_closed_is_no_trap(worker):
    may_end = threading.Event()

    async def leave() -> None:
        worker.submit(may_end.wait)

    asyncio.run(leave())
    may_end.set()
    assert asyncio.run(answer_of(worker)) == "still here"


async def answer_of(worker: WorkerThread) -> str:
    return await worker.submit(lambda: "still here")
