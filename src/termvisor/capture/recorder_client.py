"""The daemon's link to the recorder: starts it, listens to it, tells it what to close, forget or become.

In: the recorder's lines. Out: values to ``tell``. When the recorder dies unasked, `Lost` is told once; whether and
when to start again is the caller's decision.
"""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import IO, Literal, cast

from msgspec import Struct

import termvisor
from termvisor.capture.disk_space_probe import Room
from termvisor.errors import Unavailable
from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.options import ALREADY_RUNNING, PROTOCOL, Options
from termvisor.recorder.seqpacket import Channel, close_all, connect
from termvisor.settings import Places, Settings
from termvisor.system import subprocesses as spawn

_PATIENCE = 10.0
_MESSAGES_A_TURN = 32
_PAUSE = 0.01
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(termvisor.__file__)))

RecordingState = Literal["open", "ended", "capped"]


class Held(Struct, frozen=True):
    """The recorder took a pane's pipe and records it."""

    epoch: EpochId


class Grew(Struct, frozen=True):
    """The log of an epoch is now so long."""

    epoch: EpochId
    size: int


class Ended(Struct, frozen=True):
    """The pipe was closed; ``is_capped``: by the recorder, because it may or can write no more."""

    epoch: EpochId
    size: int
    is_capped: bool


class Lost(Struct, frozen=True):
    """The recorder died, and with it every pipe it held."""


News = Held | Grew | Ended | Lost


class Recording(Struct, frozen=True):
    """A stream as the recorder knows it."""

    pane: PaneId
    epoch: EpochId
    size: int
    state: RecordingState


class RecorderLink:
    """``streams`` is what the recorder told last; ``pid`` is its process."""

    def __init__(self, places: Places, settings: Settings, tell: Callable[[News], None]):
        self._options = Options(
            places.recorder_socket, places.raw_dir, settings.segment_bytes, settings.recorder_cap_bytes
        )
        self._log_file = f"{os.path.dirname(places.log_file)}/recorder.log"
        self._tell = tell
        self._conversation: _Conversation | None = None
        self._child: spawn.Child | None = None
        self._is_child_new = False
        self._is_parting = False
        self._deferred: list[bytes] | None = None
        self.streams: dict[EpochId, Recording] = {}
        self.room = Room(places.raw_dir)
        self.pid: int | None = None

    @property
    def is_connected(self) -> bool:
        return self._conversation is not None and self._conversation.is_ready

    async def start(self) -> dict[EpochId, Recording]:
        """Connect to the recorder that runs, or start one. Returns the streams it knows."""
        if not self.is_connected:
            await _in_time("answer", self._connect(may_spawn=True))
            if self._child and self.pid not in (None, self._child.pid):
                await self._call_off(self._child)
        return dict(self.streams)

    def drop(self, epoch: EpochId) -> None:
        """Close an epoch's pipe; `Ended` follows."""
        self._send(b"drop %d\n" % epoch)

    def forget(self, epoch: EpochId) -> None:
        """An ended epoch is dealt with; the recorder need not mention it again."""
        self.streams.pop(epoch, None)
        self._send(b"forget %d\n" % epoch)

    async def reexec(self, python: str = sys.executable, root: str = _ROOT) -> None:
        """Let the recorder become the program that is installed now, without losing a byte."""
        await asyncio.to_thread(_check_image, python, root)
        await self.start()
        self._deferred = []
        try:
            await self._part(f"reexec {python}\t{root}\n".encode(errors="surrogateescape"))
            before = self.streams
            await _in_time("come back", self._connect(may_spawn=False))
        except Unavailable:
            if not self.is_connected:
                self._tell(Lost())
            raise
        finally:
            self._say_deferred()
        for recording in list(self.streams.values()):
            self._tell_difference(before.get(recording.epoch), recording)

    async def quit(self) -> None:
        """Let the recorder close every pipe and end; returns when it is gone. None running is fine."""
        if self.is_connected or _is_answered(self._options.socket):
            await self.start()
            await self._part(b"quit\n")
        if self._child:
            await self._call_off(self._child)

    def close(self) -> None:
        """Stop listening; the recorder goes on."""
        if self._conversation:
            self._conversation.close()
        self._conversation = self.pid = None

    def leave(self) -> None:
        """Stop listening for good: the recorder outlives us."""
        self.close()
        if self._child:
            self._child.disown()
            self._child = None

    def handoff_command(self, pane: PaneId, epoch: EpochId) -> str:
        """The shell command for tmux's pipe-pane that passes the pane's output to the recorder."""
        script = f"{_ROOT}/termvisor/recorder/send_fd.py"
        command = shlex.join([sys.executable, "-ISE", script, self._options.socket, f"{pane}/{epoch}"])
        # tmux expands strftime, then formats; it would leave `##[` alone, so the quote is closed and opened between.
        return "exec " + command.replace("%", "%%").replace("#", "##''")

    async def _connect(self, *, may_spawn: bool) -> None:
        while not self.is_connected:
            try:
                await self._listen(Channel(connect(self._options.socket)))
            except (FileNotFoundError, ConnectionRefusedError):
                if may_spawn:
                    self._spawn()
                await asyncio.sleep(_PAUSE)
            except (BlockingIOError, ConnectionError):
                await asyncio.sleep(_PAUSE)  # its queue is full, or it left while we came
            except OSError as error:
                raise Unavailable(f"cannot reach the recorder at {self._options.socket}: {error.strerror}") from error

    async def _listen(self, channel: Channel) -> None:
        self.streams = {}
        self._conversation = _Conversation(channel, self._hear, self._on_end)
        try:
            await self._conversation.ready
        except BaseException:
            self.close()
            raise
        self._is_child_new = False

    def _spawn(self) -> None:
        """Start a recorder unless ours is on its way, or on its way out. Of two that start at once one steps back."""
        status = self._child.poll() if self._child else 0
        if status is None:
            return
        if self._is_child_new and status not in (0, ALREADY_RUNNING):
            self._is_child_new = False
            raise Unavailable(f"the recorder ended at once with status {status}", hint=f"See {self._log_file}.")
        self._is_child_new = True
        with _open_log(self._log_file) as log:
            self._child = spawn.detached(self._options.command(sys.executable, _ROOT), log=log)

    async def _call_off(self, child: spawn.Child) -> None:
        """End one that we started for nothing, because another was there first or none is wanted any more."""
        child.kill(signal.SIGTERM)
        if await asyncio.to_thread(child.wait) is not None:
            self._child = None

    def _send(self, message: bytes) -> None:
        if self._deferred is not None:
            self._deferred.append(message)  # the connection that breaks would lose it
        elif self._conversation:
            self._conversation.send(message)

    def _say_deferred(self) -> None:
        deferred, self._deferred = self._deferred or [], None
        for message in deferred:
            verb, epoch = message.split()
            if verb == b"forget":
                self.streams.pop(EpochId(int(epoch)), None)
            self._send(message)

    async def _part(self, farewell: bytes) -> None:
        if not self._conversation:
            return
        self._is_parting = True
        try:
            await _in_time("hang up", self._conversation.part(farewell))
        finally:
            self._is_parting = False
        self.close()

    def _on_end(self) -> None:
        was_connected = self.is_connected
        if not self._is_parting:
            self.close()
            if was_connected:
                self._tell(Lost())

    def _hear(self, line: str) -> None:
        match line.split(" "):
            case ["grew", epoch, size]:
                self._grow(EpochId(int(epoch)), int(size))
            case ["held", name]:
                recording = _recording(name, "0", "open")
                self.streams[recording.epoch] = recording
                self._tell(Held(recording.epoch))
            case [("ended" | "capped") as state, name, size]:
                recording = _recording(name, size, state)
                self.streams[recording.epoch] = recording
                self._tell(Ended(recording.epoch, recording.size, state == "capped"))
            case ["stream", name, size, state]:
                recording = _recording(name, size, state)
                self.streams[recording.epoch] = recording
            case ["hello", _, pid]:
                self.pid = int(pid)

    def _grow(self, epoch: EpochId, size: int) -> None:
        known = self.streams.get(epoch)
        if known:
            self.streams[epoch] = Recording(known.pane, epoch, size, known.state)
            self._tell(Grew(epoch, size))

    def _tell_difference(self, before: Recording | None, now: Recording) -> None:
        """What happened while we were not listening."""
        if before is None:
            self._tell(Held(now.epoch))
        if now.state != "open" and (before is None or before.state == "open"):
            self._tell(Ended(now.epoch, now.size, now.state == "capped"))
        elif before is None or now.size > before.size:
            self._tell(Grew(now.epoch, now.size))


class _Conversation:
    """One connection to the recorder. ``ready``: it told all it knows."""

    def __init__(self, channel: Channel, hear: Callable[[str], None], on_end: Callable[[], None]):
        self._loop = asyncio.get_running_loop()
        self._channel = channel
        self._hear, self._on_end = hear, on_end
        self._outbox: list[bytes] = []
        self.is_ready = False
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self._parted: asyncio.Future[None] | None = None
        self._loop.add_reader(channel.fileno(), self._on_readable)
        self.send(b"listen %d\n" % PROTOCOL)

    def send(self, message: bytes) -> None:
        """Bounded by what is said: at most two short lines for each epoch."""
        self._outbox.append(message)
        self._flush()

    async def part(self, farewell: bytes) -> None:
        """Say something after which the recorder hangs up, and wait until it did, or said that it cannot."""
        self._parted = self._loop.create_future()
        self.send(farewell)
        await self._parted

    def close(self) -> None:
        if self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel.fileno())
            self._loop.remove_writer(self._channel.fileno())
            self._channel.close()

    def _flush(self) -> None:
        if self._channel.fileno() < 0:
            return
        self._loop.remove_writer(self._channel.fileno())
        try:
            while self._outbox and self._channel.send(self._outbox[0]):
                del self._outbox[0]
        except OSError:
            self._outbox.clear()  # it is gone; the reader notices
        if self._outbox:
            self._loop.add_writer(self._channel.fileno(), self._flush)

    def _on_readable(self) -> None:
        for _ in range(_MESSAGES_A_TURN):
            try:
                lines, fds = self._channel.receive()
            except BlockingIOError:
                return
            except EOFError:
                self._end()
                return
            close_all(fds)
            for line in lines:
                self._take(line.decode("ascii", "replace"))

    def _take(self, line: str) -> None:
        if line == "ready":
            self.is_ready = True
            _resolve(self.ready)
        elif line.startswith("version "):
            _resolve(self.ready, Unavailable(f"the recorder that runs speaks {line}, not version {PROTOCOL}"))
        elif line.startswith("failed "):
            _resolve(self._parted, Unavailable(f"the recorder could not do it: {line}"))
        else:
            self._hear(line)

    def _end(self) -> None:
        # First of all: a descriptor at its end stays readable.
        self.close()
        self._on_end()
        _resolve(self.ready, ConnectionResetError("the recorder hung up"))
        _resolve(self._parted)


def _resolve(future: asyncio.Future[None] | None, error: Exception | None = None) -> None:
    if future is None or future.done():
        return
    if error:
        future.set_exception(error)
    else:
        future.set_result(None)


async def _in_time(what: str, waiting: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await waiting
    except TimeoutError as error:
        raise Unavailable(f"the recorder did not {what} within {_PATIENCE:.0f} s") from error


def _recording(name: str, size: str, state: str) -> Recording:
    pane, _, epoch = name.partition("/")
    return Recording(PaneId(int(pane)), EpochId(int(epoch)), int(size), cast(RecordingState, state))


def _check_image(python: str, root: str) -> None:
    """A recorder that became a program which does not start would lose every pipe, so try it first."""
    load = f"import sys; sys.path[:0] = [{root!r}]; import termvisor.recorder.recorder"
    status, _, errors = spawn.ask([python, "-ISE", "-c", load])
    if status:
        raise Unavailable(f"{python} cannot run the recorder: {errors.decode(errors='replace').strip()[-200:]}")


def _is_answered(path: str) -> bool:
    try:
        connect(path).close()
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except BlockingIOError:
        return True
    return True


def _open_log(path: str) -> IO[bytes]:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
