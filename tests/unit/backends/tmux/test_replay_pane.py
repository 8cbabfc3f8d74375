"""Render recorded bytes completely, wherever they are cut."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.backends.tmux.replay_pane import PaneSize, ReplayPane
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.errors import MuxError


@pytest.fixture
async def replay_pane(folder: str) -> AsyncIterator[ReplayPane]:
    async with ReplayServer("tmux", f"{folder}/render").open_pane(PaneSize(20, 5)) as one:
        yield one


async def capture_rows(replay_pane: ReplayPane) -> list[str]:
    return [row.rstrip() for row in (await replay_pane.capture_pane()).rows]


async def test_fed_bytes_are_rendered_when_feed_returns(replay_pane: ReplayPane) -> None:
    for number in range(200):
        await replay_pane.feed(b"\x1b[H%d" % number)
        assert (await capture_rows(replay_pane))[0] == str(number)


async def test_a_chunk_border_inside_a_sequence_or_character_changes_nothing(replay_pane: ReplayPane) -> None:
    for byte in "é\x1b[?25h\x1b(Bred\x1b]0;title\x07\x1b[3;5Hthere日".encode():
        await replay_pane.feed(bytes([byte]))
        await replay_pane.capture_pane()
    assert await capture_rows(replay_pane) == ["éred", "", "    there日", "", ""]


async def test_bytes_are_rendered_unchanged_and_not_echoed(replay_pane: ReplayPane) -> None:
    await replay_pane.feed(b"one\ntwo\x03\x04\x11\x13\x1a\x1c\r\nthree")
    assert (await capture_rows(replay_pane))[:3] == ["one", "   two", "three"]


async def test_replies_to_queries_in_a_recording_are_discarded(replay_pane: ReplayPane) -> None:
    await replay_pane.feed(b"\x1b[c\x1b[6n\x1b[>q\x1b]11;?\x07" * 5000)
    await replay_pane.feed(b"still here")
    assert (await capture_rows(replay_pane))[0] == "still here"


async def test_geometry_and_cursor_are_captured(replay_pane: ReplayPane) -> None:
    await replay_pane.feed(b"\x1b[?1049h\x1b[?25l\x1b[3;7Hx")
    capture = await replay_pane.capture_pane()
    assert (capture.width, capture.height, capture.cursor_x, capture.cursor_y) == (20, 5, 7, 2)
    assert (capture.alternate, capture.has_cursor) == (True, False)
    await replay_pane.resize(PaneSize(30, 9))
    capture = await replay_pane.capture_pane()
    assert (capture.width, capture.height) == (30, 9)


async def test_rows_above_are_captured_if_the_first_row_may_continue_them(replay_pane: ReplayPane) -> None:
    await replay_pane.feed(b"a" * 20 + b"b" * 20 + b"\r\n1\r\n2\r\n3\r\n4")
    capture = await replay_pane.capture_pane()
    assert (capture.rows_above, capture.rows[0].rstrip()) == (("a" * 20,), "b" * 20)
    await replay_pane.feed(b"\r\n5")
    assert (await replay_pane.capture_pane()).rows_above == ()


async def test_a_flood_is_rendered_completely(replay_pane: ReplayPane) -> None:
    await replay_pane.feed(b"".join(b"line %d\r\n" % number for number in range(100_000)))
    assert (await capture_rows(replay_pane))[-2] == "line 99999"


async def test_two_replay_panes_do_not_affect_each_other(folder: str) -> None:
    replay_server = ReplayServer("tmux", f"{folder}/render")
    async with replay_server.open_pane(PaneSize(20, 5)) as one, replay_server.open_pane(PaneSize(20, 5)) as other:
        await asyncio.gather(one.feed(b"one" * 3), other.feed(b"two"))
        assert ((await capture_rows(one))[0], (await capture_rows(other))[0]) == ("oneoneone", "two")


async def test_a_killed_pane_is_reported_gone(replay_pane: ReplayPane) -> None:
    await replay_pane._client.request(TmuxCommand("kill-pane", "-t", replay_pane._pane))
    with pytest.raises(MuxError):
        await replay_pane.feed(b"x" * 100_000)
    with pytest.raises(MuxError):
        await replay_pane.capture_pane()
