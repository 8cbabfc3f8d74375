import asyncio

from termvisor.daemon.services.shared_results import SharedResults
from termvisor.testing.fake_clock import FakeClock, let_tasks_run


class CountingBuilder:
    """Returns how often it was called."""

    def __init__(self) -> None:
        self.count = 0

    async def build(self, _known: int | None) -> int:
        self.count += 1
        await let_tasks_run()
        return self.count


async def test_callers_at_the_same_time_share_one_build() -> None:
    clock, builder = FakeClock(), CountingBuilder()
    results = SharedResults(clock)
    with results.open("panes", 0.25) as shared, results.open("panes", 0.25) as same:
        assert same is shared
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(shared.fetch(builder.build)) for _ in range(20)]
            await let_tasks_run()
            await clock.advance(0.25)
        # The first call has begun to build when the others ask, so that they need a newer value, all the same one.
        assert [call.result() for call in calls] == [1, *[2] * 19]


async def test_a_result_is_never_older_than_the_call_and_built_once_per_interval() -> None:
    clock, builder = FakeClock(), CountingBuilder()
    with SharedResults(clock).open("panes", 0.25) as shared:
        assert await shared.fetch(builder.build) == 1
        await clock.advance(0.1)
        async with asyncio.TaskGroup() as group:
            later = group.create_task(shared.fetch(builder.build))
            await let_tasks_run()
            assert not later.done()
            await clock.advance(0.15)
            assert await later == 2


async def test_a_result_is_dropped_with_its_last_viewer() -> None:
    results, builder = SharedResults(FakeClock()), CountingBuilder()
    for expected in (1, 2):
        with results.open("panes", 60) as shared:
            assert await shared.fetch(builder.build) == expected


async def test_a_failed_build_is_repeated_for_the_next_caller() -> None:
    clock, builder = FakeClock(), CountingBuilder()

    async def fail(_known: int | None) -> int:
        raise RuntimeError("no pane")

    with SharedResults(clock).open("panes", 0.25) as shared:
        failed = await asyncio.gather(shared.fetch(fail), return_exceptions=True)
        assert [str(error) for error in failed] == ["no pane"]
        await clock.advance(1)
        assert await shared.fetch(builder.build) == 1
