"""A system clock that jumps deletes nothing and is reported, until it has been steady for a day."""

from collections.abc import AsyncIterator

import pytest

from termvisor.clock import NS, SystemClock
from termvisor.daemon.maintenance.retention_clock import RetentionClock
from termvisor.daemon.maintenance.scheduler import MaintenanceScheduler
from termvisor.system.procfs import read_boot_id
from tests.unit.daemon.aged_storage import DAY_NS, AgedStorage, open_storage

DAY_S = 86_400.0


class SetClock(SystemClock):
    """The real clocks, each moved by a test."""

    def __init__(self) -> None:
        self.set_by_s = self.passed_s = 0.0

    def now(self) -> int:
        return super().now() + int((self.set_by_s + self.passed_s) * NS)

    def monotonic(self) -> float:
        return super().monotonic() + self.passed_s

    async def sleep(self, seconds: float) -> None:
        return


class MaintainedStorage:
    """Text of two days, and the maintenance of daemons that follow one another."""

    def __init__(self, storage: AgedStorage):
        self.storage, self.clock, self.boot = storage, SetClock(), "first"

    async def start(self) -> None:
        self.retention_clock = await RetentionClock.open(self.storage.store, self.clock, self.boot)
        self._scheduler = MaintenanceScheduler(
            self.storage.store, self.storage.places, self.clock, lambda: self.storage.settings, self.retention_clock
        )

    async def run_round(self) -> list[str]:
        """Run a round; return the texts that are left."""
        async for _ in self._scheduler.run_round():
            pass
        return await self.storage.read_texts(self.pane)

    async def restart(self, *, reboots: bool = False, off_s: float = 0.0) -> None:
        """Start another daemon; a reboot happens after ``off_s`` seconds and resets the time since the boot."""
        if reboots:
            self.boot += " next"
            self.clock.set_by_s += self.clock.passed_s + off_s + SystemClock().monotonic()
            self.clock.passed_s = -SystemClock().monotonic()
        await self.start()


@pytest.fixture
async def daemon(tmp_path) -> AsyncIterator[MaintainedStorage]:
    async with open_storage(str(tmp_path)) as storage:
        daemon = MaintainedStorage(storage)
        daemon.pane = await storage.add_pane()
        await storage.print_epoch(daemon.pane, b"old\n", days_ago=29)
        await storage.print_epoch(daemon.pane, b"new\n", days_ago=0)
        await daemon.start()
        yield daemon


async def test_a_clock_that_is_set_ahead_deletes_nothing(daemon):
    assert await daemon.run_round() == ["old", "new"]
    daemon.clock.set_by_s = 400 * DAY_S
    assert await daemon.run_round() == ["old", "new"]
    assert daemon.storage.list_segments() == [(1, 0), (2, 0)]
    assert daemon.retention_clock.jump_s == pytest.approx(400 * DAY_S, abs=60)
    assert "set ahead by 400d; data expires by the earlier time" in daemon.retention_clock.problem


async def test_data_expires_in_time_although_the_clock_was_set(daemon):
    daemon.clock.set_by_s = 400 * DAY_S
    assert await daemon.run_round() == ["old", "new"]
    daemon.clock.passed_s = 0.9 * DAY_S
    assert await daemon.run_round() == ["old", "new"]
    daemon.clock.set_by_s, daemon.clock.passed_s = 0.0, 2 * DAY_S
    assert await daemon.run_round() == ["new"]
    assert daemon.retention_clock.problem == ""


async def test_a_clock_that_is_corrected_is_no_problem_any_more(daemon):
    daemon.clock.set_by_s = 400 * DAY_S
    assert daemon.retention_clock.problem
    daemon.clock.set_by_s = 1.0
    assert (daemon.retention_clock.problem, daemon.retention_clock.jump_s) == ("", 0.0)


async def test_a_jump_is_believed_once_the_clock_is_steady_for_a_day(daemon):
    daemon.clock.set_by_s = 400 * DAY_S
    for daemon.clock.passed_s in (0.0, 0.5 * DAY_S, 0.99 * DAY_S):
        assert await daemon.run_round() == ["old", "new"]
    daemon.clock.set_by_s = 401 * DAY_S
    for daemon.clock.passed_s in (1.1 * DAY_S, 2.0 * DAY_S):
        assert "new" in await daemon.run_round()
    daemon.clock.passed_s = 2.2 * DAY_S
    assert (await daemon.run_round(), daemon.retention_clock.problem) == ([], "")


async def test_restarts_do_not_hide_a_jump(daemon):
    await daemon.run_round()
    daemon.clock.set_by_s = 400 * DAY_S
    for _ in range(3):
        await daemon.restart()
        assert await daemon.run_round() == ["old", "new"]
    assert daemon.retention_clock.problem


async def test_a_first_daemon_with_a_wrong_clock_deletes_nothing(daemon):
    daemon.clock.set_by_s = 400 * DAY_S
    await daemon.start()
    assert await daemon.run_round() == ["old", "new"]


async def test_a_machine_that_was_off_is_no_jump_and_waits_for_a_day(daemon):
    await daemon.run_round()
    await daemon.restart(reboots=True, off_s=40 * DAY_S)
    assert (await daemon.run_round(), daemon.retention_clock.problem) == (["old", "new"], "")
    daemon.clock.passed_s += 1.1 * DAY_S
    assert await daemon.run_round() == []


async def test_a_quick_reboot_changes_nothing(daemon):
    await daemon.run_round()
    await daemon.restart(reboots=True, off_s=60.0)
    daemon.clock.passed_s += 2 * DAY_S
    assert await daemon.run_round() == ["new"]


async def test_a_clock_that_is_set_back_is_reported(daemon):
    daemon.clock.set_by_s = -3.5 * DAY_S
    assert await daemon.run_round() == ["old", "new"]
    assert "set back by 3d" in daemon.retention_clock.problem
    await daemon.restart()
    assert "set back" in daemon.retention_clock.problem


async def test_sleep_of_the_machine_is_no_jump(daemon):
    daemon.clock.passed_s = 2 * DAY_S
    assert (await daemon.run_round(), daemon.retention_clock.problem) == (["new"], "")


async def test_a_database_without_rows_begins_with_the_system_clock(tmp_path):
    async with open_storage(str(tmp_path)) as storage:
        opened = await RetentionClock.open(storage.store, storage.clock)
        assert abs(opened.now() - storage.clock.now()) < DAY_NS
        assert opened.problem == ""


def test_the_boot_is_identified():
    assert len(read_boot_id()) == 36
