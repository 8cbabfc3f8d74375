from collections.abc import AsyncIterator

from termvisor.model.maintenance import Maintenance
from termvisor.ops.database._progress import plain, step, told
from termvisor.ops.render.text import Look
from termvisor.testing.world import NOON, MemoryWorld

LOOK = Look(width=80, colour=False, now=NOON)
SEAL = Maintenance(operation="seal", started_at=NOON, duration=2.5, rows=3, bytes=24_000_000, detail="3 segments")


async def test_of_what_goes_on_a_word_a_second_is_told_and_all_that_is_done() -> None:
    world = MemoryWorld()

    async def runs() -> AsyncIterator[Maintenance]:
        for number in range(20):
            await world.clock.advance(0.25)
            yield Maintenance(operation="seal", started_at=NOON, rows=number, is_done=False)
        yield SEAL

    found = [(item.rows, item.is_done) async for item in told(world, runs())]
    assert found == [(3, False), (7, False), (11, False), (15, False), (19, False), (3, True)]


async def test_who_stops_listening_stops_the_work() -> None:
    stopped = []

    async def runs() -> AsyncIterator[Maintenance]:
        try:
            yield SEAL
            yield SEAL
        finally:
            stopped.append(True)

    items = told(MemoryWorld(), runs())
    await anext(items)
    await items.aclose()  # type: ignore[attr-defined]
    assert stopped == [True]


def test_people_read_what_was_done_how_far_it_is_and_what_would_be_done() -> None:
    assert plain(step(SEAL), LOOK) == "seal          3 segments, 24.0 MB  2.5 s"
    going = Maintenance(operation="seal", started_at=NOON, rows=1, detail="1 of 3 segments", is_done=False)
    assert plain(step(going), LOOK) == "seal          … 1 of 3 segments"
    assert plain(step(SEAL, foretold=True), LOOK) == "seal          would: 3 segments, 24.0 MB"
    assert plain(step(Maintenance(operation="seal", started_at=NOON)), LOOK) == "seal          nothing to do"
