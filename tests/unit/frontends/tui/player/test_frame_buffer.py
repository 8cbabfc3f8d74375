"""Frames from a daemon, read as they come."""

import pytest

from termvisor.client import daemon_process as start
from termvisor.clock import NS
from termvisor.errors import NotFound, Unavailable
from termvisor.frontends.tui.player.frame_buffer import Reel
from termvisor.model.terminal.frame import Frame
from termvisor.system.polling import until
from termvisor.testing.world import NOON
from tests.unit.memory import memory_daemon, private_places, reap


def fetched(reel: Reel, count: int) -> list[Frame]:
    """At least so many frames, or all."""
    found: list[Frame] = []

    def enough() -> bool:
        found.extend(reel.pull())
        return len(found) >= count or reel.is_over

    assert until(enough, 20.0, every=0.005)
    return found


def test_frames_come_in_order_and_end(folder: str) -> None:
    with memory_daemon(folder) as places:
        found = fetched(reel := Reel(places, "2", None), 1000)
        assert [frame.at for frame in found[:3]] == [NOON, NOON + NS // 2, NOON + NS]
        assert (len(found), found[0].rows[0]) == (101, "\x1b[31mscreen 0\x1b[0m of pane 2")
        assert (reel.is_over, reel.fileno(), reel.pull()) == (True, None, [])


def test_a_part_is_asked_for_as_such(folder: str) -> None:
    with memory_daemon(folder) as places:
        reel = Reel(places, "1", NOON + 12 * NS)
        reel.fetch_from(NOON + 10 * NS)
        assert [frame.at for frame in fetched(reel, 1000)] == [NOON + 10 * NS + half * NS // 2 for half in range(5)]


def test_after_a_rest_it_goes_on_where_it_was(folder: str) -> None:
    with memory_daemon(folder) as places:
        reel = Reel(places, "1", None)
        found = fetched(reel, 10)
        reel.rest()
        found += fetched(reel, 1000)
        assert len({frame.at for frame in found}) == len(found) == 101


def test_what_happened_to_the_pane_is_told(folder: str) -> None:
    with memory_daemon(folder) as places:
        assert Reel(places, "1", None).events(1) == []


def test_an_unknown_pane_is_an_error(folder: str) -> None:
    with memory_daemon(folder) as places, pytest.raises(NotFound):
        fetched(Reel(places, "99", None), 1)


def test_a_daemon_that_is_gone_for_good_ends_it(folder: str) -> None:
    with memory_daemon(folder) as places:
        reel = Reel(places, "1", None)
        fetched(reel, 1)
        reel.fetch_from(NOON)
        start.stop(places)
        reap()
        with pytest.raises(Unavailable):
            fetched(reel, 1)


def test_without_a_daemon_there_is_no_film(folder: str) -> None:
    with pytest.raises(Unavailable):
        fetched(Reel(private_places(folder), "1", None), 1)
