"""Frames are fetched from a daemon without blocking."""

import pytest

from termvisor.client import daemon_process
from termvisor.clock import NS
from termvisor.errors import NotFound, Unavailable
from termvisor.frontends.tui.player.frame_buffer import FrameBuffer
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.system.retry import wait_until
from termvisor.testing.fake_clock import NOON
from tests.unit.fake_daemon import make_private_paths, reap_daemons, run_fake_daemon


def fetch_frames(buffer: FrameBuffer, count: int) -> list[ReplayFrame]:
    """Fetch at least ``count`` frames, or all."""
    found: list[ReplayFrame] = []

    def has_enough() -> bool:
        found.extend(buffer.pull_frames())
        return len(found) >= count or buffer.is_complete

    assert wait_until(has_enough, 20.0, interval_s=0.005)
    return found


def test_frames_come_in_order_and_end(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        found = fetch_frames(buffer := FrameBuffer(places, "2", None), 1000)
        assert [frame.at for frame in found[:3]] == [NOON, NOON + NS // 2, NOON + NS]
        assert (len(found), found[0].rows[0]) == (101, "\x1b[31mscreen 0\x1b[0m of pane 2")
        assert (buffer.is_complete, buffer.fileno(), buffer.pull_frames()) == (True, None, [])


def test_a_time_range_is_requested_from_the_daemon(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        buffer = FrameBuffer(places, "1", NOON + 12 * NS)
        buffer.seek(NOON + 10 * NS)
        assert [frame.at for frame in fetch_frames(buffer, 1000)] == [
            NOON + 10 * NS + half * NS // 2 for half in range(5)
        ]


def test_fetching_continues_at_the_last_frame_after_a_disconnect(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        buffer = FrameBuffer(places, "1", None)
        found = fetch_frames(buffer, 10)
        buffer.disconnect()
        found += fetch_frames(buffer, 1000)
        assert len({frame.at for frame in found}) == len(found) == 101


def test_events_of_the_pane_are_listed(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        assert FrameBuffer(places, "1", None).list_events(1) == []


def test_an_unknown_pane_is_an_error(folder: str) -> None:
    with run_fake_daemon(folder) as places, pytest.raises(NotFound):
        fetch_frames(FrameBuffer(places, "99", None), 1)


def test_a_lost_daemon_raises_after_retries(folder: str) -> None:
    with run_fake_daemon(folder) as places:
        buffer = FrameBuffer(places, "1", None)
        fetch_frames(buffer, 1)
        buffer.seek(NOON)
        daemon_process.stop_daemon(places)
        reap_daemons()
        with pytest.raises(Unavailable):
            fetch_frames(buffer, 1)


def test_without_a_daemon_fetching_raises(folder: str) -> None:
    with pytest.raises(Unavailable):
        fetch_frames(FrameBuffer(make_private_paths(folder), "1", None), 1)
