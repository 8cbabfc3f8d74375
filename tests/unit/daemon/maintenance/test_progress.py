from termvisor.daemon.maintenance.progress import MaintenanceProgress, format_counts
from termvisor.testing.fake_clock import NOON, FakeClock


async def test_progress_counts_rows_and_duration() -> None:
    clock = FakeClock()
    tally = MaintenanceProgress("delete_rows", clock)
    tally.add_rows("block", 2)
    tally.add_rows("event", 1)
    tally.add_rows("block", 3)
    await clock.advance(1.5)
    step, done = tally.build_step("going"), tally.build_result(format_counts(tally.counts))
    assert (step.rows, step.duration, step.started_at, step.is_done) == (6, 1.5, NOON, False)
    assert (done.detail, done.is_done) == ("block 5, event 1", True)


def test_zero_counts_are_not_listed() -> None:
    assert format_counts({"block": 0, "event": 4}) == "event 4"
