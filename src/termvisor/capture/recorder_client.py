"""Start the recorder process, connect to it, send it commands and report what it captures.

In: the recorder's text lines. Out: growth of logs, directly to the pipeline (``on_growth``), and everything else to
``on_update``. When the recorder dies, RecorderDied is reported once; the caller decides whether to restart it.
"""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import replace

import termvisor
from termvisor.backends.capture_sink import StreamHandoff
from termvisor.capture.raw_log import DiskSpaceProbe
from termvisor.capture.stream_handoff import plan_handoff
from termvisor.errors import Conflict, Unavailable
from termvisor.model.ids import EpochId, PaneId
from termvisor.recorder.sockets import SeqpacketChannel, close_descriptors, connect_socket, is_recorder_listening
from termvisor.recorder.startup import (
    EXIT_ALREADY_RUNNING,
    EXIT_LOCKED,
    PROTOCOL_VERSION,
    RecorderOptions,
    get_lock_path,
)
from termvisor.settings import Paths, Settings
from termvisor.system import subprocesses
from termvisor.system.files import open_log_file, read_lock_holder, read_lock_note
from termvisor.system.procfs import count_free_descriptors

_RECORDER_TIMEOUT_S = 10.0
# Maximum number of messages handled per readiness event, so that a flood does not block the event loop.
_MAX_MESSAGES_PER_READ = 32
_RECONNECT_DELAY_S = 0.01
# A pipe, the connection by which it arrives, and the two files of its log.
_MIN_FREE_DESCRIPTORS = 4
_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(termvisor.__file__)))

StreamState = Literal["open", "ended", "capped", "starved"]


class RecordedStream(Struct, frozen=True):
    """A stream as reported by the recorder.

    It is open, ended, capped (stopped by a size limit or a full disk) or starved (no free file descriptor for its log).
    """

    pane: PaneId
    epoch: EpochId
    size: int
    state: StreamState


class RecorderDied(Struct, frozen=True):
    """The recorder died, and with it every pipe it held."""


RecorderUpdate = RecordedStream | RecorderDied


class RecorderClient:
    """A connection to the one recorder of an instance.

    ``on_growth`` is called for every write, with the epoch and the size of its log; ``on_update``, which the receiver
    sets, for everything else. Both run on the event loop.
    """

    def __init__(self, paths: Paths, settings: Settings, on_growth: Callable[[EpochId, int], None]):
        self._options = RecorderOptions(
            paths.recorder_socket, paths.raw_dir, settings.segment_bytes, settings.recorder_cap_bytes
        )
        self._log_file = f"{os.path.dirname(paths.log_file)}/recorder.log"
        self._on_growth = on_growth
        self.on_update: Callable[[RecorderUpdate], None] = lambda update: None
        self._connection: _RecorderConnection | None = None
        self._child: subprocesses.ChildProcess | None = None
        self._is_child_starting = False
        self._is_disconnecting = False
        self._deferred_messages: list[bytes] | None = None
        """Messages to send after a reexec; None while none is in progress."""
        self.streams: dict[EpochId, RecordedStream] = {}
        self.disk_space = DiskSpaceProbe(paths.raw_dir)
        self.pid: int | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_ready

    @property
    def is_starved(self) -> bool:
        """Return True if the recorder has no free file descriptors for another pipe and its log."""
        free = count_free_descriptors(self.pid) if self.pid else None
        return free is not None and free < _MIN_FREE_DESCRIPTORS

    async def start(self) -> dict[EpochId, RecordedStream]:
        """Connect to the running recorder, or start one, and return its streams.

        Raises Unavailable if it does not start or answer in time, and Conflict if another recorder writes the raw log.
        """
        if not self.is_connected:
            await _wait_with_timeout("answer", self._connect(may_spawn=True))
            if self._child and self.pid not in (None, self._child.pid):
                await self._terminate_child(self._child)
        return dict(self.streams)

    def drop_stream(self, epoch: EpochId) -> None:
        """Tell the recorder to close an epoch's pipe. The recorder then reports the stream as ended."""
        self._send(b"drop %d\n" % epoch)

    def is_stream_open(self, epoch: EpochId) -> bool:
        """Return True if the recorder last reported this epoch's pipe as open."""
        return epoch in self.streams and self.streams[epoch].state == "open"

    def forget_stream(self, epoch: EpochId) -> None:
        """Tell the recorder to stop reporting an ended epoch."""
        self.streams.pop(epoch, None)
        self._send(b"forget %d\n" % epoch)

    async def reexec(self, python: str = sys.executable, root: str = _PACKAGE_ROOT) -> None:
        """Make the recorder re-execute itself as the installed version, keeping its pipes open.

        Raises Unavailable if the new program cannot run or does not answer in time.
        """
        await asyncio.to_thread(_check_image, python, root)
        await self.start()
        self._deferred_messages = []
        try:
            await self._disconnect(f"reexec {python}\t{root}\n".encode(errors="surrogateescape"))
            before = self.streams
            await _wait_with_timeout("come back", self._connect(may_spawn=False))
        except Unavailable:
            # Either exec failed and the old program is still connected, or the recorder is gone.
            if not self.is_connected:
                self.on_update(RecorderDied())
            raise
        finally:
            self._send_deferred()
        for recording in list(self.streams.values()):
            self._report_difference(before.get(recording.epoch), recording)

    async def quit(self) -> None:
        """Make the recorder close every pipe and exit, and wait until it has. Do nothing if none is running."""
        if self.is_connected or is_recorder_listening(self._options.socket):
            await self.start()
            await self._disconnect(b"quit\n")
        if self._child:
            await self._terminate_child(self._child)

    def close(self) -> None:
        """Close the connection; the recorder keeps running."""
        if self._connection:
            self._connection.close()
        self._connection = self.pid = None

    def detach(self) -> None:
        """Close the connection and disown the process, so that it outlives the daemon."""
        self.close()
        if self._child:
            self._child.disown()
            self._child = None

    def plan_handoff(self, pane: PaneId, epoch: EpochId) -> StreamHandoff:
        """Return how another process passes the pane's output to the recorder."""
        return plan_handoff(self._options.socket, f"{_PACKAGE_ROOT}/termvisor/recorder/send_fd.py", pane, epoch)

    async def _connect(self, *, may_spawn: bool) -> None:
        while not self.is_connected:
            try:
                await self._open_connection(SeqpacketChannel(connect_socket(self._options.socket)))
            except (FileNotFoundError, ConnectionRefusedError):
                if may_spawn:
                    self._spawn_recorder()
                await asyncio.sleep(_RECONNECT_DELAY_S)
            except (BlockingIOError, ConnectionError):
                # Its accept queue is full, or it has just exited.
                await asyncio.sleep(_RECONNECT_DELAY_S)
            except OSError as error:
                raise Unavailable(f"cannot reach the recorder at {self._options.socket}: {error.strerror}") from error

    async def _open_connection(self, channel: SeqpacketChannel) -> None:
        self.streams = {}
        self._connection = _RecorderConnection(channel, self._handle_line, self._handle_disconnect)
        try:
            await self._connection.ready
        except BaseException:
            # Cancelled or refused: a half-open connection must not look connected.
            self.close()
            raise
        self._is_child_starting = False

    def _spawn_recorder(self) -> None:
        """Start a recorder unless our child is running. If two start at once, one exits with EXIT_ALREADY_RUNNING."""
        status = self._child.poll() if self._child else 0
        if status is None:
            return
        if self._is_child_starting and status not in (0, EXIT_ALREADY_RUNNING):
            self._is_child_starting = False
            if status == EXIT_LOCKED:
                raise _build_locked_error(self._options.raw_dir)
            raise Unavailable(f"the recorder exited at once with status {status}", hint=f"See {self._log_file}.")
        self._is_child_starting = True
        with open_log_file(self._log_file) as log:
            self._child = subprocesses.start_detached(
                self._options.build_command(sys.executable, _PACKAGE_ROOT), log=log
            )

    async def _terminate_child(self, child: subprocesses.ChildProcess) -> None:
        """Stop our recorder, which lost the race against another one or is no longer needed."""
        child.kill(signal.SIGTERM)
        if await asyncio.to_thread(child.wait) is not None:
            self._child = None

    def _send(self, message: bytes) -> None:
        if self._deferred_messages is not None:
            # Otherwise closing the connection would lose it.
            self._deferred_messages.append(message)
        elif self._connection:
            self._connection.send(message)

    def _send_deferred(self) -> None:
        deferred, self._deferred_messages = self._deferred_messages or [], None
        for message in deferred:
            verb, epoch = message.split()
            if verb == b"forget":
                self.streams.pop(EpochId(int(epoch)), None)
            self._send(message)

    async def _disconnect(self, farewell: bytes) -> None:
        if not self._connection:
            return
        self._is_disconnecting = True
        try:
            await _wait_with_timeout("hang up", self._connection.send_farewell(farewell))
        finally:
            self._is_disconnecting = False
        self.close()

    def _handle_disconnect(self) -> None:
        was_connected = self.is_connected
        if not self._is_disconnecting:
            self.close()
            if was_connected:
                self.on_update(RecorderDied())

    def _handle_line(self, line: str) -> None:
        match line.split(" "):
            case ["grew", epoch, size]:
                if known := self.streams.get(EpochId(int(epoch))):
                    self.streams[known.epoch] = replace(known, size=int(size))
                    self._on_growth(known.epoch, int(size))
            case ["held", name]:
                self.on_update(self._add_stream(name, "0", "open"))
            case [("ended" | "capped" | "starved") as state, name, size]:
                self.on_update(self._add_stream(name, size, state))
            case ["stream", name, size, state]:
                self._add_stream(name, size, state)
            case ["hello", _, pid]:
                self.pid = int(pid)

    def _add_stream(self, name: str, size: str, state: str) -> RecordedStream:
        pane, _, epoch = name.partition("/")
        stream = RecordedStream(PaneId(int(pane)), EpochId(int(epoch)), int(size), cast(StreamState, state))
        self.streams[stream.epoch] = stream
        return stream

    def _report_difference(self, before: RecordedStream | None, now: RecordedStream) -> None:
        """Report how a stream changed between two connections."""
        if before is None:
            self.on_update(replace(now, state="open"))
        if now.state != "open" and (before is None or before.state == "open"):
            self.on_update(now)
        elif before is None or now.size > before.size:
            self._on_growth(now.epoch, now.size)


class _RecorderConnection:
    """One connection to the recorder; ``ready`` is done once the recorder has listed all its streams."""

    def __init__(self, channel: SeqpacketChannel, on_line: Callable[[str], None], on_disconnect: Callable[[], None]):
        self._loop = asyncio.get_running_loop()
        self._channel = channel
        self._on_line, self._on_disconnect = on_line, on_disconnect
        self._outbox: list[bytes] = []
        self.is_ready = False
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self._hung_up: asyncio.Future[None] | None = None
        self._loop.add_reader(channel.fileno(), self._on_readable)
        self.send(b"listen %d\n" % PROTOCOL_VERSION)

    def send(self, message: bytes) -> None:
        """Queue a message; the outbox is bounded by two short lines for each epoch."""
        self._outbox.append(message)
        self._flush_outbox()

    async def send_farewell(self, farewell: bytes) -> None:
        """Send a command that makes the recorder hang up, and wait until it does.

        Raises Unavailable if the recorder reports a failure instead.
        """
        self._hung_up = self._loop.create_future()
        self.send(farewell)
        await self._hung_up

    def close(self) -> None:
        if self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel.fileno())
            self._loop.remove_writer(self._channel.fileno())
            self._channel.close()

    def _flush_outbox(self) -> None:
        if self._channel.fileno() < 0:
            return
        self._loop.remove_writer(self._channel.fileno())
        try:
            while self._outbox and self._channel.send(self._outbox[0]):
                del self._outbox[0]
        except OSError:
            # The recorder is gone; _on_readable handles the end of file.
            self._outbox.clear()
        if self._outbox:
            self._loop.add_writer(self._channel.fileno(), self._flush_outbox)

    def _on_readable(self) -> None:
        for _ in range(_MAX_MESSAGES_PER_READ):
            try:
                lines, fds = self._channel.receive()
            except BlockingIOError:
                return
            except EOFError:
                self._handle_eof()
                return
            close_descriptors(fds)
            for line in lines:
                self._dispatch_line(line.decode("ascii", "replace"))

    def _dispatch_line(self, line: str) -> None:
        if line == "ready":
            self.is_ready = True
            _resolve_future(self.ready)
        elif line.startswith("version "):
            _resolve_future(
                self.ready, Unavailable(f"the running recorder uses protocol {line}, not version {PROTOCOL_VERSION}")
            )
        elif line.startswith("failed "):
            _resolve_future(self._hung_up, Unavailable(f"the recorder reported: {line}"))
        else:
            self._on_line(line)

    def _handle_eof(self) -> None:
        # Close first: a descriptor at end of file stays readable and would trigger this callback in a loop.
        self.close()
        self._on_disconnect()
        _resolve_future(self.ready, ConnectionResetError("the recorder hung up"))
        _resolve_future(self._hung_up)


def _resolve_future(future: asyncio.Future[None] | None, error: Exception | None = None) -> None:
    if future is None or future.done():
        return
    if error:
        future.set_exception(error)
    else:
        future.set_result(None)


async def _wait_with_timeout(verb: str, awaitable: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_RECORDER_TIMEOUT_S):
            await awaitable
    except TimeoutError as error:
        raise Unavailable(f"the recorder did not {verb} within {_RECORDER_TIMEOUT_S:.0f} s") from error


def _build_locked_error(raw_dir: str) -> Conflict:
    path = get_lock_path(raw_dir)
    folder = os.path.dirname(read_lock_note(path))
    return Conflict(
        f"a recorder (pid {read_lock_holder(path)}) of another runtime folder, {folder}, writes {raw_dir}",
        hint=f"Stop it with `VISOR_RUNTIME_DIR={shlex.quote(folder)} visor down`, then retry.",
    )


def _check_image(python: str, root: str) -> None:
    """Raise Unavailable if the new program cannot be imported, because executing it would lose every pipe."""
    load = f"import sys; sys.path[:0] = [{root!r}]; import termvisor.recorder.process"
    status, _, errors = subprocesses.run_and_capture([python, "-ISE", "-c", load])
    if status:
        raise Unavailable(f"{python} cannot run the recorder: {errors.decode(errors='replace').strip()[-200:]}")
