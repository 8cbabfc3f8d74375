from termvisor.daemon.maintenance.progress import Tally, listed
from termvisor.testing.world import NOON, StillClock


async def test_a_tally_tells_how_far_it_is_and_how_long_it_took() -> None:
    clock = StillClock()
    tally = Tally("delete_rows", clock)
    tally.add("block", 2)
    tally.add("event", 1)
    tally.add("block", 3)
    await clock.advance(1.5)
    step, done = tally.step("going"), tally.done(listed(tally.counts))
    assert (step.rows, step.duration, step.started_at, step.is_done) == (6, 1.5, NOON, False)
    assert (done.detail, done.is_done) == ("block 5, event 1", True)


def test_only_what_changed_is_listed() -> None:
    assert listed({"block": 0, "event": 4}) == "event 4"
