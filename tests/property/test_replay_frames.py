"""Replay rendering: the last screen does not depend on how the bytes are cut or grouped."""

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
outputs = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(b"".join)
SIZE = PaneSize(20, 6)


async def render_screens(data: bytes, cuts: list[int]) -> list[object]:
    """Return the screens after feeding the bytes at once, in pieces with a capture after each, and byte by byte."""
    with tempfile.TemporaryDirectory(prefix="tv-", dir="/tmp") as folder:
        server, screens = ReplayServer("tmux", f"{folder}/r"), []
        async with server.open_pane(SIZE):  # keeps the server alive while the other panes open and close
            for boundaries in ([], sorted(cuts), list(range(len(data)))):
                async with server.open_pane(SIZE) as pane:
                    for start, end in zip([0, *boundaries], [*boundaries, len(data)], strict=True):
                        await pane.feed(data[start:end])
                        last = await pane.capture_pane()
                    screens.append(replace(last, rows=tuple(make_rows_self_contained(last.rows))))
    return screens


@build_settings(15)
@given(outputs, st.data())
def test_the_final_screen_does_not_depend_on_chunk_boundaries(data: bytes, draw: st.DataObject) -> None:
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=5))
    whole, cut, bytewise = asyncio.run(render_screens(data, cuts))
    assert whole == cut == bytewise


EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=0)
SEGMENT = TimelineSegment((EPOCH,), Screen(pane=PaneId(1), rows=(), width=80, height=24))
times = st.integers(0, 2000)


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=5), times), max_size=40), times, st.integers(0, 300))
def test_replay_steps_keep_byte_order_and_never_span_the_start_time(
    writes: list[tuple[bytes, int]], since: int, interval: int
) -> None:
    deltas, offset = [], 0
    for (data, _), at in zip(writes, sorted(at for _, at in writes), strict=True):
        deltas.append(Delta(EPOCH.id, offset, data, at))
        offset += len(data)
    steps = list(iterate_steps(deltas, SEGMENT, ReplaySpan(since, None, interval)))
    assert all(isinstance(step, OutputChunk) for step in steps)
    assert b"".join(step.data for step in steps) == b"".join(delta.data for delta in deltas)
    before = b"".join(step.data for step in steps if step.at < since)
    assert before == b"".join(delta.data for delta in deltas if delta.at < since)
    assert [step.at for step in steps] == sorted(step.at for step in steps)
