"""One pane on which recorded bytes are drawn: feed it, then look.

How we know that all is drawn: tmux gives each byte that it read from the pane to the pane's pipe, and has drawn it
before that byte leaves. So bytes are counted and nothing is added to them: a border may lie anywhere, also inside a
sequence. We write to the pane's terminal ourselves; what tmux answers to a recording's questions is thrown away.
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

from termvisor.backends.pane_source import Capture
from termvisor.backends.tmux.client import ControlClient
from termvisor.backends.tmux.control_mode import Reply, quote
from termvisor.errors import MuxError

_PIECE = 1 << 18
_DRAWN_WITHIN = 20.0
_PIPE_BYTES = 1 << 20
_LARGEST = 1000
_GEOMETRY = '"#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{history_size}"'
_ABOVE = 4
"""Rows above the screen that tell how its first row begins, where that may be the rest of a longer one."""
_MAY_GO_ON = re.compile(r"(?:\x1b\[[0-9;:]*m)*[^\s\x1b]{4}")


class Size(Struct, frozen=True):
    """Columns and rows; tmux is not asked for a screen without room or for one that nobody has."""

    width: int
    height: int

    @property
    def words(self) -> str:
        return f"-x {max(1, min(self.width, _LARGEST))} -y {max(1, min(self.height, _LARGEST))}"


class Easel:
    def __init__(self, client: ControlClient, pane: str, path: str):
        self._client, self._pane, self._path = client, pane, path
        self._loop = asyncio.get_running_loop()
        self._fed = self._drawn = 0
        self._moved, self._is_over = asyncio.Event(), False
        self._terminal = self._pipe = -1

    @classmethod
    async def set_up(cls, client: ControlClient, path: str, size: Size) -> "Easel":
        """``path`` is where the pane's pipe may stand."""
        make = f'new-session -d {size.words} -P -F "#{{pane_id}} #{{pane_tty}}" sleep 100000000'
        reply = await client.request(make)
        pane, _, terminal = (reply.printed[0] if reply.printed else b"").decode().partition(" ")
        if not terminal:
            raise MuxError(f"tmux made no pane to draw on: {reply.error or 'no answer'}")
        easel = cls(client, pane, path)
        try:
            await easel._open(terminal)
        except OSError as error:
            await easel.take_down()
            raise MuxError(f"nothing can be drawn on {terminal}: {error.strerror}") from error
        except BaseException:
            await easel.take_down()
            raise
        return easel

    async def feed(self, data: bytes) -> None:
        """Draw these bytes; they are drawn when this returns."""
        for start in range(0, len(data), _PIECE):
            try:
                async with asyncio.timeout(_DRAWN_WITHIN):
                    await self._draw(data[start : start + _PIECE])
            except TimeoutError as error:
                raise MuxError(f"tmux did not draw {_PIECE} bytes within {_DRAWN_WITHIN:.0f} s") from error

    async def look(self) -> Capture:
        """What the pane shows now, with escapes; rows that tmux wrapped are not joined."""
        do = f"display-message -p -t {self._pane} {_GEOMETRY}"
        reply = await self._client.request(do, f"capture-pane -p -e -N -t {self._pane}")
        words = reply.printed[0].split() if reply.printed else []
        if reply.error or len(words) != 7:
            raise MuxError(f"the pane that was drawn on is gone: {reply.error or 'no answer'}")
        width, height, x, y, alternate, cursor, history = map(int, words)
        rows = _texts(reply)
        has_above = history and not alternate and _MAY_GO_ON.match(rows[0] if rows else "")
        return Capture(
            rows=rows,
            above=await self._above() if has_above else (),
            width=width,
            height=height,
            cursor_x=x,
            cursor_y=y,
            alternate=bool(alternate),
            has_cursor=bool(cursor),
        )

    async def _above(self) -> tuple[str, ...]:
        return _texts(await self._client.request("", f"capture-pane -p -N -S -{_ABOVE} -E -1 -t {self._pane}"))

    async def resize(self, size: Size) -> None:
        await self._client.request(f"resize-window -t {self._pane} {size.words}")

    async def take_down(self) -> None:
        self._end()
        for descriptor in (self._pipe, self._terminal):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        with contextlib.suppress(MuxError):
            await self._client.request(f"kill-pane -t {self._pane}")

    async def _open(self, terminal: str) -> None:
        self._terminal = _raw(terminal)
        self._pipe = _pipe(self._path)
        # tmux expands strftime, then formats; it would leave `##[` alone, so the quote is closed and opened between.
        command = f"exec cat >{shlex.quote(self._path)}".replace("%", "%%").replace("#", "##''")
        reply = await self._client.request(f"pipe-pane -O -t {self._pane} {quote(command)}")
        if reply.error:
            raise MuxError(f"tmux could not pipe {self._pane}: {reply.error}")
        self._loop.add_reader(self._pipe, self._count)
        self._loop.add_reader(self._terminal, self._throw_away)

    async def _draw(self, data: bytes) -> None:
        self._fed += len(data)
        rest = memoryview(data)
        while rest and not self._is_over:
            try:
                rest = rest[os.write(self._terminal, rest) :]
            except BlockingIOError:
                await self._writable()
            except OSError:
                self._end()
        while self._drawn < self._fed and not self._is_over:
            self._moved.clear()
            await self._moved.wait()
        if self._is_over:
            raise MuxError("the pane that was drawn on ended")

    async def _writable(self) -> None:
        self._moved.clear()
        self._loop.add_writer(self._terminal, self._moved.set)
        try:
            await self._moved.wait()
        finally:
            self._loop.remove_writer(self._terminal)

    def _count(self) -> None:
        try:
            data = os.read(self._pipe, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._pipe)
            self._end()
        self._drawn += len(data)
        self._moved.set()

    def _throw_away(self) -> None:
        try:
            if os.read(self._terminal, 1 << 16):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._loop.remove_reader(self._terminal)
        self._end()

    def _end(self) -> None:
        self._is_over = True
        self._moved.set()


def _texts(reply: Reply) -> tuple[str, ...]:
    return tuple(row.decode("utf-8", "replace") for row in reply.body)


def _raw(terminal: str) -> int:
    """The pane's terminal, open so that bytes pass through it as they are."""
    descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        tty.setraw(descriptor)
    except termios.error as error:
        os.close(descriptor)
        raise OSError(*error.args) from error
    return descriptor


def _pipe(path: str) -> int:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    os.mkfifo(path, 0o600)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return descriptor
