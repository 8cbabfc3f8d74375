"""Bytes are drawn when feeding them returns, whatever they are and wherever they are cut."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from termvisor.backends.tmux.replay_pane import PaneSize, ReplayPane
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.errors import MuxError


@pytest.fixture
async def easel(folder: str) -> AsyncIterator[ReplayPane]:
    async with ReplayServer("tmux", f"{folder}/render").open_pane(PaneSize(20, 5)) as one:
        yield one


async def shown(easel: ReplayPane) -> list[str]:
    return [row.rstrip() for row in (await easel.capture_pane()).rows]


async def test_what_was_fed_is_there_at_once(easel: ReplayPane) -> None:
    for number in range(200):
        await easel.feed(b"\x1b[H%d" % number)
        assert (await shown(easel))[0] == str(number)


async def test_a_cut_inside_a_sequence_or_a_letter_changes_nothing(easel: ReplayPane) -> None:
    for byte in "é\x1b[?25h\x1b(Bred\x1b]0;title\x07\x1b[3;5Hthere日".encode():
        await easel.feed(bytes([byte]))
        await easel.capture_pane()
    assert await shown(easel) == ["éred", "", "    there日", "", ""]


async def test_bytes_pass_as_they_are_and_nothing_is_echoed(easel: ReplayPane) -> None:
    await easel.feed(b"one\ntwo\x03\x04\x11\x13\x1a\x1c\r\nthree")
    assert (await shown(easel))[:3] == ["one", "   two", "three"]


async def test_questions_of_a_recording_are_answered_to_nobody(easel: ReplayPane) -> None:
    await easel.feed(b"\x1b[c\x1b[6n\x1b[>q\x1b]11;?\x07" * 5000)
    await easel.feed(b"still here")
    assert (await shown(easel))[0] == "still here"


async def test_geometry_and_cursor_are_told(easel: ReplayPane) -> None:
    await easel.feed(b"\x1b[?1049h\x1b[?25l\x1b[3;7Hx")
    look = await easel.capture_pane()
    assert (look.width, look.height, look.cursor_x, look.cursor_y) == (20, 5, 7, 2)
    assert (look.alternate, look.has_cursor) == (True, False)
    await easel.resize(PaneSize(30, 9))
    look = await easel.capture_pane()
    assert (look.width, look.height) == (30, 9)


async def test_the_rows_above_come_along_where_the_first_row_may_go_on_from_them(easel: ReplayPane) -> None:
    await easel.feed(b"a" * 20 + b"b" * 20 + b"\r\n1\r\n2\r\n3\r\n4")
    look = await easel.capture_pane()
    assert (look.rows_above, look.rows[0].rstrip()) == (("a" * 20,), "b" * 20)
    await easel.feed(b"\r\n5")
    assert (await easel.capture_pane()).rows_above == ()


async def test_a_flood_is_drawn_to_its_end(easel: ReplayPane) -> None:
    await easel.feed(b"".join(b"line %d\r\n" % number for number in range(100_000)))
    assert (await shown(easel))[-2] == "line 99999"


async def test_two_easels_do_not_touch_each_other(folder: str) -> None:
    studio = ReplayServer("tmux", f"{folder}/render")
    async with studio.open_pane(PaneSize(20, 5)) as one, studio.open_pane(PaneSize(20, 5)) as other:
        await asyncio.gather(one.feed(b"one" * 3), other.feed(b"two"))
        assert ((await shown(one))[0], (await shown(other))[0]) == ("oneoneone", "two")


async def test_a_pane_that_is_killed_is_told(easel: ReplayPane) -> None:
    await easel._client.request(f"kill-pane -t {easel._pane}")
    with pytest.raises(MuxError):
        await easel.feed(b"x" * 100_000)
    with pytest.raises(MuxError):
        await easel.capture_pane()
