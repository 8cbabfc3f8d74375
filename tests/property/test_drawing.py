"""A law of drawing: wherever the bytes are cut and however they are grouped, the last screen is the same."""

import asyncio
import tempfile

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.backends.tmux.replay_pane import PaneSize
from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.daemon.replay.timeline import OutputChunk, ReplaySpan, TimelineSegment, iterate_steps
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Delta, Epoch
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.sgr import make_rows_self_contained
from tests.fuzz.example_count import build_settings

PIECES = [b"word ", b"\r\n", "日é".encode(), b"\xe6\x97", b"\t", b"\x08", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2K",
          b"\x1b[A", b"\x1b[3", b"1m", b"\x1b[0m", b"\x1bc", b"\x1b]0;ti", b"tle\x07", b"\x1b[5;3H", b"\x1b(0",
          b"\x1bPq", b"\x1b\\", b"\x1b[c", b"\x18", b"\x1b[2J", b"\x1b[2;4r", b"\x1bM", b"\x9b1m", b"x" * 25, b"\x00",
          b"\x1b[?25l", b"\x1b[?7l", b"\x1b[4h", b"\x1b[3P", b"\x1b[2L", b"\x1b#8", b"\x0e", b"\x0f",
          b"\x1b(B"]  # fmt: skip
printed = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(b"".join)
SIZE = PaneSize(20, 6)


async def screens(data: bytes, cuts: list[int]) -> list[object]:
    """What is shown after feeding it at once, byte by byte, and in the given pieces with a look after each."""
    with tempfile.TemporaryDirectory(prefix="tv-", dir="/tmp") as folder:
        studio, found = ReplayServer("tmux", f"{folder}/r"), []
        async with studio.open_pane(SIZE):  # keeps the server while the others come and go
            for borders in ([], sorted(cuts), list(range(len(data)))):
                async with studio.open_pane(SIZE) as easel:
                    for start, end in zip([0, *borders], [*borders, len(data)], strict=True):
                        await easel.feed(data[start:end])
                        last = await easel.capture_pane()
                    found.append(replace(last, rows=tuple(make_rows_self_contained(last.rows))))
    return found


@build_settings(15)
@given(printed, st.data())
def test_cuts_change_nothing(data: bytes, draw: st.DataObject) -> None:
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=5))
    once, cut, bytewise = asyncio.run(screens(data, cuts))
    assert once == cut == bytewise


EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=0)
STRETCH = TimelineSegment((EPOCH,), Screen(pane=PaneId(1), rows=(), width=80, height=24))
moments = st.integers(0, 2000)


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=5), moments), max_size=40), moments, st.integers(0, 300))
def test_portions_are_the_bytes_in_order_and_never_span_the_beginning(
    writings: list[tuple[bytes, int]], since: int, interval: int
) -> None:
    deltas, offset = [], 0
    for (data, _), at in zip(writings, sorted(at for _, at in writings), strict=True):
        deltas.append(Delta(EPOCH.id, offset, data, at))
        offset += len(data)
    found = list(iterate_steps(deltas, STRETCH, ReplaySpan(since, None, interval)))
    assert all(isinstance(step, OutputChunk) for step in found)
    assert b"".join(step.data for step in found) == b"".join(delta.data for delta in deltas)
    before = b"".join(step.data for step in found if step.at < since)
    assert before == b"".join(delta.data for delta in deltas if delta.at < since)
    assert [step.at for step in found] == sorted(step.at for step in found)
