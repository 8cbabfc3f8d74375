"""Render recorded bytes in a tmux pane: feed() them, then capture_pane().

Rendering is complete when the pane's pipe has returned every byte, because tmux draws a byte before it pipes it. So
bytes are only counted, none are added, and a chunk may end anywhere, even inside an escape sequence. The bytes are
written directly to the pane's tty; tmux's replies to queries in the recording are discarded.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import shlex
import termios
import tty

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import ROWS_ABOVE, PaneCapture
from termvisor.backends.tmux.commands import TmuxClient, TmuxCommand
from termvisor.backends.tmux.pane_source import decode_rows, parse_capture
from termvisor.errors import MuxError

_WRITE_BYTES = 1 << 18
_RENDER_TIMEOUT_S = 20.0
_PIPE_BUFFER_BYTES = 1 << 20
_MAX_DIMENSION = 1000
_GEOMETRY_FORMAT = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{history_size}"
_MAY_CONTINUE_ROW_ABOVE = re.compile(r"(?:\x1b\[[0-9;:]*m)*[^\s\x1b]{4}")


class PaneSize(Struct, frozen=True):
    """Columns and rows, clamped to the range 1.._MAX_DIMENSION that tmux accepts."""

    width: int
    height: int

    @property
    def tmux_arguments(self) -> tuple[str, ...]:
        width, height = (str(max(1, min(length, _MAX_DIMENSION))) for length in (self.width, self.height))
        return ("-x", width, "-y", height)


class ReplayPane:
    def __init__(self, client: TmuxClient, pane: str, fifo_path: str):
        self._client, self._pane, self._fifo_path = client, pane, fifo_path
        self._loop = asyncio.get_running_loop()
        self._written_bytes = self._rendered_bytes = 0
        self._progressed, self._has_ended = asyncio.Event(), False
        self._terminal_fd = self._fifo_fd = -1

    @classmethod
    async def create(cls, client: TmuxClient, fifo_path: str, size: PaneSize) -> "ReplayPane":
        """Create a pane whose output is piped to a FIFO at ``fifo_path``. Raises MuxError if tmux fails."""
        printing = ("-P", "-F", "#{pane_id} #{pane_tty}")
        command = TmuxCommand("new-session", "-d", *size.tmux_arguments, *printing, "exec sleep 100000000")
        reply = await client.request(command)
        pane, _, terminal = (reply.lines[0] if reply.lines else b"").decode().partition(" ")
        if not terminal:
            raise MuxError(f"tmux cannot create a pane for the replay: {reply.error or 'no answer'}")
        replay_pane = cls(client, pane, fifo_path)
        try:
            await replay_pane._open_terminal(terminal)
        except OSError as error:
            await replay_pane.close()
            raise MuxError(f"cannot open the replay terminal {terminal}: {error.strerror}") from error
        except BaseException:
            # Also on cancellation: otherwise the pane would stay in the server.
            await replay_pane.close()
            raise
        return replay_pane

    async def feed(self, data: bytes) -> None:
        """Render bytes and return once they are drawn. Raises MuxError if that takes too long."""
        for start in range(0, len(data), _WRITE_BYTES):
            try:
                async with asyncio.timeout(_RENDER_TIMEOUT_S):
                    await self._render(data[start : start + _WRITE_BYTES])
            except TimeoutError as error:
                raise MuxError(f"tmux did not render {_WRITE_BYTES} bytes within {_RENDER_TIMEOUT_S:.0f} s") from error

    async def capture_pane(self) -> PaneCapture:
        """Capture the screen with escape sequences; wrapped rows are not joined."""
        reply = await self._client.request(
            TmuxCommand("display-message", "-p", "-t", self._pane, _GEOMETRY_FORMAT),
            TmuxCommand("capture-pane", "-p", "-e", "-N", "-t", self._pane),
        )
        words = reply.lines[0].split() if reply.lines else []
        if reply.error or len(words) != 7:
            raise MuxError(f"the replay pane is gone: {reply.error or 'no answer'}")
        *geometry, history = map(int, words)
        capture = parse_capture(geometry, decode_rows(reply.lines[1:]))
        if not history or capture.alternate or not _MAY_CONTINUE_ROW_ABOVE.match("".join(capture.rows[:1])):
            return capture
        above = await self._client.request(
            TmuxCommand("capture-pane", "-p", "-N", "-S", f"-{ROWS_ABOVE}", "-E", "-1", "-t", self._pane)
        )
        return replace(capture, rows_above=decode_rows(above.lines))

    async def resize(self, size: PaneSize) -> None:
        await self._client.request(TmuxCommand("resize-window", "-t", self._pane, *size.tmux_arguments))

    async def close(self) -> None:
        self._mark_ended()
        for descriptor in (self._fifo_fd, self._terminal_fd):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._fifo_path)
        with contextlib.suppress(MuxError):  # the server may be gone already
            await self._client.request(TmuxCommand("kill-pane", "-t", self._pane))

    async def _open_terminal(self, terminal: str) -> None:
        self._terminal_fd = _open_raw_terminal(terminal)
        self._fifo_fd = _open_fifo(self._fifo_path)
        # tmux expands strftime, then formats. It does not unescape `##[`, so close and reopen the quote in between.
        command = f"exec cat >{shlex.quote(self._fifo_path)}".replace("%", "%%").replace("#", "##''")
        reply = await self._client.request(TmuxCommand("pipe-pane", "-O", "-t", self._pane, command))
        if reply.error:
            raise MuxError(f"tmux cannot pipe {self._pane}: {reply.error}")
        self._loop.add_reader(self._fifo_fd, self._count_rendered)
        self._loop.add_reader(self._terminal_fd, self._discard_terminal_replies)

    async def _render(self, data: bytes) -> None:
        self._written_bytes += len(data)
        rest = memoryview(data)
        while rest and not self._has_ended:
            try:
                rest = rest[os.write(self._terminal_fd, rest) :]
            except BlockingIOError:
                await self._wait_until_writable()
            except OSError:
                # The pane exited.
                self._mark_ended()
        while self._rendered_bytes < self._written_bytes and not self._has_ended:
            self._progressed.clear()
            await self._progressed.wait()
        if self._has_ended:
            raise MuxError("the replay pane exited")

    async def _wait_until_writable(self) -> None:
        self._progressed.clear()
        self._loop.add_writer(self._terminal_fd, self._progressed.set)
        try:
            await self._progressed.wait()
        finally:
            self._loop.remove_writer(self._terminal_fd)

    def _count_rendered(self) -> None:
        try:
            data = os.read(self._fifo_fd, 1 << 16)
        except BlockingIOError:
            return
        # A descriptor at end of file stays readable and would trigger this callback in a loop.
        if not data:
            self._loop.remove_reader(self._fifo_fd)
            self._mark_ended()
        self._rendered_bytes += len(data)
        self._progressed.set()

    def _discard_terminal_replies(self) -> None:
        try:
            if os.read(self._terminal_fd, 1 << 16):
                return
        except BlockingIOError:
            return
        except OSError:
            # The pane exited.
            pass
        self._loop.remove_reader(self._terminal_fd)
        self._mark_ended()

    def _mark_ended(self) -> None:
        self._has_ended = True
        self._progressed.set()


def _open_raw_terminal(terminal: str) -> int:
    """Open the pane's tty in raw mode, so that bytes pass through it unchanged."""
    descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        tty.setraw(descriptor)
    except termios.error as error:
        os.close(descriptor)
        raise OSError(*error.args) from error
    return descriptor


def _open_fifo(path: str) -> int:
    # A killed daemon may have left its FIFO behind.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    os.mkfifo(path, 0o600)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with contextlib.suppress(OSError, AttributeError):  # not available on macOS, or above the user's limit
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BUFFER_BYTES)
    return descriptor
