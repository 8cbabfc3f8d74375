"""Follow the raw log of one own terminal with a terminal model, so that its screen is known and queries are answered.

The log is the only input: what the model shows at an offset is what the recorder had stored up to there. A checkpoint
lets the next daemon continue without reading the whole log. Old queries are not answered again.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.pty.terminal_model import ModelFactory, TerminalModel
from termvisor.backends.screen_renderer import ScreenRenderer
from termvisor.log import get_logger
from termvisor.recorder.segment_log import SegmentReader
from termvisor.system.files import write_private_file

_TURN_BYTES = 1 << 18
_MERGE_WINDOW_NS = 1 << 62
_CHECKPOINT_BYTES = 8 << 20
# A pane without a checkpoint that printed more than this is shown from its last output only.
_MAX_REPLAY_BYTES = 32 << 20
_MAX_UNRENDERED_BYTES = 4 << 20

log = get_logger("backends.pty")


class ScreenCheckpoint(Struct, frozen=True):
    """The state of a model after a part of the log, as bytes that restore it."""

    stream: str
    offset: int
    columns: int
    rows: int
    state: bytes


class PaneScreen:
    """The model of one terminal. ``send_answer`` types what it answers to the program."""

    def __init__(
        self,
        raw_dir: str,
        checkpoint_path: str,
        size: tuple[int, int],
        build_model: ModelFactory,
        send_answer: Callable[[bytes], None],
        renderer: ScreenRenderer | None = None,
    ):
        self._renderer, self._unrendered = renderer, bytearray()
        self._raw_dir, self._checkpoint_path = raw_dir, checkpoint_path
        self._size, self._build_model, self._send_answer = size, build_model, send_answer
        self.model: TerminalModel = build_model(*size)
        self.stream, self.offset, self.shown_offset = "", 0, 0
        """``shown_offset`` is where the log was when the screen was captured last."""
        self._reader: SegmentReader | None = None
        self._is_turn_scheduled = False
        self._bytes_since_checkpoint = 0

    def begin_stream(self, stream: str) -> None:
        """Continue with another stream of the pane; the rest of the one before is read first."""
        if self._reader is not None:
            self.update()
            self._reader.close()
        self.stream, self.offset = stream, 0
        self._reader = SegmentReader(f"{self._raw_dir}/{stream}")

    def restore(self, stream: str) -> None:
        """Rebuild the screen from the checkpoint, if there is one, and from the logs of the pane up to ``stream``."""
        checkpoint = self._read_checkpoint()
        if checkpoint is not None:
            self.model.resize(checkpoint.columns, checkpoint.rows)
            self.model.feed(checkpoint.state)
        for name, begin in self._list_replayed_streams(stream, checkpoint):
            self.begin_stream(name)
            self.offset = begin
            self._read_turn(None, answers=False)
        if self.stream != stream:
            self.begin_stream(stream)
        self.model.resize(*self._size)

    def resize(self, columns: int, rows: int) -> None:
        if (columns, rows) != self._size:
            self.update()
            self._size = (columns, rows)
            self.model.resize(columns, rows)

    def note_growth(self) -> None:
        """Process new output soon, in turns, so that a flood does not block the event loop."""
        if not self._is_turn_scheduled and self._reader is not None:
            self._is_turn_scheduled = True
            asyncio.get_running_loop().call_soon(self._run_turn)

    def update(self) -> int:
        """Process all output that is in the log now and return its end."""
        self._read_turn(None)
        return self.offset

    async def capture(self, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        shown_offset = self.update()
        if self._renderer is None:
            capture = self.model.read_screen(lines=lines, escapes=escapes)
        else:
            data, self._unrendered = bytes(self._unrendered), bytearray()
            capture = await self._renderer.render(data, self._size, escapes=escapes)
        self.shown_offset = shown_offset
        return capture

    def save_checkpoint(self) -> None:
        self._bytes_since_checkpoint = 0
        checkpoint = ScreenCheckpoint(self.stream, self.offset, *self._size, self.model.encode_state())
        # Without a checkpoint the next daemon reads the log instead.
        with suppress(OSError):
            write_private_file(self._checkpoint_path, msgspec.msgpack.encode(checkpoint))

    def close(self, *, keep_checkpoint: bool = False) -> None:
        if keep_checkpoint and self._reader is not None:
            self.update()
            self.save_checkpoint()
        elif not keep_checkpoint:
            with suppress(OSError):
                os.unlink(self._checkpoint_path)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.model.close()

    def _run_turn(self) -> None:
        self._is_turn_scheduled = False
        if self._reader is not None and self._read_turn(_TURN_BYTES):
            self.note_growth()

    def _read_turn(self, limit: int | None, *, answers: bool = True) -> bool:
        """Feed up to ``limit`` bytes; return True if there may be more."""
        if self._reader is None:
            return False
        end = self._reader.read_size()
        stop = end if limit is None else min(end, self.offset + limit)
        while self.offset < stop:
            before = self.offset
            for offset, data, _ in self._reader.read_pieces(before, min(_TURN_BYTES, stop - before), _MERGE_WINDOW_NS):
                reply = self.model.feed(data)
                self._note_unrendered(data)
                if reply and answers:
                    self._send_answer(reply)
                self.offset = offset + len(data)
                self._bytes_since_checkpoint += len(data)
            if self.offset == before:
                # The rest was deleted. Its text is missing on this screen.
                self.offset = stop
        if self._bytes_since_checkpoint > _CHECKPOINT_BYTES:
            self.save_checkpoint()
        return self.offset < end

    def _note_unrendered(self, data: bytes) -> None:
        if self._renderer is not None:
            self._unrendered += data
            # A program that prints this much has drawn its screen again meanwhile.
            del self._unrendered[:-_MAX_UNRENDERED_BYTES]

    def _read_checkpoint(self) -> ScreenCheckpoint | None:
        try:
            with open(self._checkpoint_path, "rb") as file:
                return msgspec.msgpack.decode(file.read(), type=ScreenCheckpoint)
        except (OSError, msgspec.MsgspecError):
            # None was written, or it is incomplete.
            return None

    def _list_replayed_streams(self, last: str, checkpoint: ScreenCheckpoint | None) -> Iterator[tuple[str, int]]:
        """Yield the streams to read, with the offset to begin at, oldest first."""
        pane, _, last_epoch = last.partition("/")
        epochs = sorted(int(name) for name in self._list_folder(pane) if name.isdecimal())
        names = [f"{pane}/{epoch}" for epoch in epochs if epoch <= int(last_epoch or 0)]
        if checkpoint is not None and checkpoint.stream in names:
            first = names.index(checkpoint.stream)
            yield from zip(names[first:], [checkpoint.offset, *[0] * len(names)], strict=False)
            return
        left, plan = _MAX_REPLAY_BYTES, []
        for name in reversed(names):
            size = self._measure_stream(name)
            plan.append((name, max(0, size - left)))
            left -= size
            if left <= 0:
                break
        yield from reversed(plan)

    def _list_folder(self, name: str) -> list[str]:
        try:
            return os.listdir(f"{self._raw_dir}/{name}")
        except OSError:
            # Nothing was recorded yet.
            return []

    def _measure_stream(self, name: str) -> int:
        reader = SegmentReader(f"{self._raw_dir}/{name}")
        try:
            return reader.read_size()
        finally:
            reader.close()
