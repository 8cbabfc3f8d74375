"""Stored lines and those still on the screen are one numbered sequence; rewritten lines are read again."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import InitialLine, Line, LinePosition
from termvisor.pipeline.line_reader import LineReader

HEIGHT = 5
SECRET = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


@pytest.fixture
async def small(capture_store, pane):
    """An epoch of a pane with five rows."""
    epoch = await capture_store.reserve_epoch(pane)
    capture = PaneCapture(rows=(), width=40, height=HEIGHT, cursor_x=0, cursor_y=0, has_cursor=True, alternate=False)
    carry = capture_store.pipeline.begin_epoch(epoch, capture, InitialLine())
    begun = replace(epoch, carry=carry)
    capture_store.pipeline.open_epoch(begun)
    return begun


async def print_output(capture_store, epoch, data: bytes) -> None:
    capture_store.write_output(epoch, data)
    await capture_store.pipeline.wait_settled()


async def read_texts(capture_store, epoch, **span) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in await capture_store.pipeline.lines.read(epoch.pane, **span)]


async def test_lines_on_the_screen_follow_the_stored_ones(capture_store, small):
    await print_output(capture_store, small, b"".join(b"line %d\r\n" % number for number in range(1, 9)))
    stored = await capture_store.store.output.read_lines(small.pane)
    assert [line.text for line in stored] == ["line 1", "line 2", "line 3", "line 4"]
    assert await read_texts(capture_store, small) == [(number, f"line {number}") for number in range(1, 9)]
    assert await read_texts(capture_store, small, limit=2) == [(7, "line 7"), (8, "line 8")]
    assert (await read_texts(capture_store, small, limit=5))[0] == (4, "line 4")


@pytest.mark.parametrize(
    ("span", "numbers"),
    [
        ({"after": 2}, [3, 4, 5, 6, 7, 8]),
        ({"after": 2, "limit": 3}, [3, 4, 5]),
        ({"after": 2, "before": 6}, [3, 4, 5]),
        ({"after": 6}, [7, 8]),
        ({"before": 6, "limit": 2}, [4, 5]),
        ({"before": 3}, [1, 2]),
        ({"after": 8}, []),
        ({"limit": 0}, []),
    ],
)
async def test_a_span_may_cover_stored_and_unstored_lines(capture_store, small, span, numbers):
    await print_output(capture_store, small, b"".join(b"line %d\r\n" % number for number in range(1, 9)))
    assert [number for number, _ in await read_texts(capture_store, small, **span)] == numbers


async def test_the_line_at_the_cursor_is_pending(capture_store, small):
    await print_output(capture_store, small, b"one\r\ntwo\r\nthr")
    assert await read_texts(capture_store, small) == [(1, "one"), (2, "two")]
    assert capture_store.pipeline.current_readers[small.pane].pending_line == "thr"
    assert capture_store.pipeline.lines.count_lines(small.pane) == 2


async def test_a_secret_on_the_screen_is_redacted_when_it_is_read(capture_store, small):
    await print_output(capture_store, small, b"token " + SECRET.encode() + b"\r\n")
    ((_, text),) = await read_texts(capture_store, small)
    assert "redacted" in text
    assert SECRET not in text


async def test_a_rewritten_line_is_read_again_by_those_who_have_read_it(capture_store, small):
    lines = capture_store.pipeline.lines
    await print_output(capture_store, small, b"step 1\r\nstep 2\r\n")
    seen, position = await lines.read_since(small.pane, LinePosition(0), 10)
    assert [line.text for line in seen] == ["step 1", "step 2"]
    assert position == LinePosition(2)
    await print_output(capture_store, small, b"\x1b[2AStep\r\n\nstep 3\r\n")
    again, position = await lines.read_since(small.pane, position, 10)
    assert [(line.number, line.text) for line in again] == [(1, "Step 1"), (3, "step 3")]
    assert (await lines.read_since(small.pane, position, 10))[0] == []


async def test_a_rewritten_line_is_found_after_it_has_scrolled_off(capture_store, small):
    lines = capture_store.pipeline.lines
    await print_output(capture_store, small, b"step 1\r\nstep 2\r\n")
    _, position = await lines.read_since(small.pane, LinePosition(0), 10)
    await print_output(capture_store, small, b"\x1b[2AStep\r\n\n" + b"more\r\n" * 9)
    again, _ = await lines.read_since(small.pane, position, 3)
    assert [(line.number, line.text) for line in again] == [(1, "Step 1"), (3, "more"), (4, "more")]


async def test_erased_lines_leave_a_position_behind_the_last_line(capture_store, small):
    lines = capture_store.pipeline.lines
    await print_output(capture_store, small, b"one\r\ntwo\r\nthree\r\n")
    position = lines.find_position(small.pane, 3)
    await print_output(capture_store, small, b"\x1b[2A\x1b[J")
    assert await lines.read_since(small.pane, position, 10) == ([], lines.find_position(small.pane, 1))


async def test_lines_are_numbered_alike_before_and_after_a_restart(capture_store, small):
    await print_output(capture_store, small, b"".join(b"line %d\r\n" % number for number in range(1, 9)) + b"rest")
    before = await read_texts(capture_store, small)
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    capture_store.pipeline.open_epoch(left)
    assert await read_texts(capture_store, left) == before
    assert capture_store.pipeline.current_readers[left.pane].pending_line == "rest"


async def test_a_lost_snapshot_is_rebuilt_from_the_raw_log(capture_store, small, monkeypatch):
    monkeypatch.setattr("termvisor.pipeline.epoch_text._SNAPSHOT_BYTES", 20)
    for number in range(1, 9):
        await print_output(capture_store, small, b"line %d\r\n" % number)
    before = await read_texts(capture_store, small)
    await capture_store.restart()
    capture_store.pipeline.window_files.delete_strays(frozenset())
    (left,) = await capture_store.store.output.list_open_epochs()
    assert left.committed > 0
    capture_store.pipeline.open_epoch(left)
    assert await read_texts(capture_store, left) == before
    await print_output(capture_store, left, b"line 9\r\n")
    assert [text for _, text in await read_texts(capture_store, left)] == [f"line {number}" for number in range(1, 10)]


async def test_the_lines_of_a_closed_epoch_are_all_stored(capture_store, small):
    await print_output(capture_store, small, b"one\r\ntwo\r\nrest")
    await capture_store.pipeline.finish_epoch(small.id, 13)
    stored = await capture_store.store.output.read_lines(small.pane)
    assert [line.text for line in stored] == ["one", "two", "rest"]
    assert await read_texts(capture_store, small) == [(1, "one"), (2, "two"), (3, "rest")]


async def test_a_pane_resized_after_its_last_snapshot_gets_its_size_after_a_restart(capture_store, small, monkeypatch):
    monkeypatch.setattr("termvisor.pipeline.epoch_text._SNAPSHOT_BYTES", 1)
    await print_output(capture_store, small, (b"x" * 30 + b"\r\n") * 4)
    # The rows that no longer fit settle, so the new size is committed without further output.
    capture_store.pipeline.resize_pane(small.pane, 20, HEIGHT)
    await capture_store.pipeline.wait_settled()
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    reader = capture_store.pipeline.open_epoch(left)
    capture_store.pipeline.resize_pane(left.pane, 20, HEIGHT)
    assert (reader.text.size, reader.text.decoder.size) == ((20, HEIGHT), (20, HEIGHT))


@pytest.mark.parametrize(
    ("span", "numbers"),
    [
        ({}, [3, 4, 5, 6]),
        ({"limit": 3}, [4, 5, 6]),
        ({"after": 2}, [3, 4, 5, 6]),
        ({"after": 3, "limit": 2}, [4, 5]),
        ({"after": 3, "before": 6}, [4, 5]),
        ({"before": 6, "limit": 2}, [4, 5]),
        ({"before": 4}, [3]),
    ],
)
async def test_a_line_that_is_stored_during_the_read_is_returned_once(span, numbers):
    lines = [Line(pane=PaneId(1), number=number, at=1, text=str(number), epoch=EpochId(1)) for number in range(3, 7)]

    class GrowingStore:
        """A store that has line 5 as soon as it is read."""

        async def read_lines(self, pane, *, after=0, before=None, limit):
            found = [one for one in lines[:3] if one.number > after and (before is None or one.number < before)]
            return found[:limit] if after else found[-limit:]

    text = SimpleNamespace(list_unstored_lines=lambda first: lines[2:])
    reader = LineReader(GrowingStore(), {PaneId(1): SimpleNamespace(text=text)}, {PaneId(1): 5})
    assert [line.number for line in await reader.read(PaneId(1), **span)] == numbers
