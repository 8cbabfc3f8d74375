"""The transport to this machine (`Transport`): child processes, pipes and files."""

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from typing import Literal

from termvisor.backends.transport import FileStatus, TransportResult
from termvisor.errors import NotFound, Unavailable
from termvisor.model.terminal.target import LOCAL, LinkHealth, Target
from termvisor.system import files, subprocesses

_MAX_OUTPUT_BYTES = 1 << 20


class LocalTransport:
    def __init__(self, target: Target = LOCAL):
        self.target = target
        self._channels: set[LocalChannel] = set()

    @property
    def health(self) -> LinkHealth:
        return LinkHealth()

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 10.0) -> TransportResult:
        if not subprocesses.is_installed(argv[0]):
            return TransportResult(status=127, errors=f"{argv[0]}: not found".encode(), failure="missing")
        started_at = asyncio.get_running_loop().time()
        status, out, errors = await subprocesses.run_isolated(
            argv, stdin=stdin, timeout_s=timeout_s, max_kept_bytes=_MAX_OUTPUT_BYTES
        )
        is_late = asyncio.get_running_loop().time() - started_at >= timeout_s
        return TransportResult(status, out, errors, _classify_failure(status, is_late=is_late))

    async def open_channel(self, argv: Sequence[str]) -> "LocalChannel":
        channel = LocalChannel(argv, self._channels.discard)
        self._channels.add(channel)
        return channel

    async def read_statuses(self, paths: Sequence[str]) -> list[FileStatus | None]:
        return [_read_status(path) for path in paths]

    async def read_file(self, path: str, offset: int, limit: int) -> bytes:
        try:
            descriptor = files.open_regular_file(path, os.O_RDONLY)
        except OSError as error:
            raise NotFound(f"cannot read {path}: {error.strerror}") from error
        try:
            return os.pread(descriptor, limit, offset)
        finally:
            os.close(descriptor)

    async def write_file(self, path: str, data: bytes, mode: int = 0o600) -> None:
        try:
            files.write_atomically(path, data, None, mode)
        except OSError as error:
            raise Unavailable(f"cannot write {path}: {error.strerror}") from error

    async def close(self) -> None:
        for channel in list(self._channels):
            await channel.close()


class LocalChannel:
    """A program that dies with this process, its standard input and output."""

    def __init__(self, argv: Sequence[str], on_close: "Callable[[LocalChannel], None]"):
        self._on_close = on_close
        stdin, self._stdin = os.pipe()
        self._stdout, stdout = os.pipe()
        try:
            self._child = subprocesses.start_tied(argv, stdin=stdin, stdout=stdout)
        except OSError as error:
            os.close(self._stdin)
            os.close(self._stdout)
            raise Unavailable(f"cannot start {argv[0]}: {error.strerror}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        for descriptor in (self._stdin, self._stdout):
            os.set_blocking(descriptor, False)
        self._is_open = True

    async def read(self, limit: int = 1 << 16) -> bytes:
        while self._is_open:
            try:
                return os.read(self._stdout, limit)
            except BlockingIOError:
                await self._wait_for(self._stdout, "read")
        return b""

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._is_open:
                raise Unavailable("the program at the other end of the channel has ended")
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                await self._wait_for(self._stdin, "write")
            except BrokenPipeError as error:
                raise Unavailable("the program at the other end of the channel has ended") from error

    async def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._on_close(self)
            self._child.kill()
            self._child.wait()
            os.close(self._stdin)
            os.close(self._stdout)

    async def _wait_for(self, descriptor: int, direction: Literal["read", "write"]) -> None:
        loop, is_ready = asyncio.get_running_loop(), asyncio.Event()
        add, remove = (
            (loop.add_reader, loop.remove_reader) if direction == "read" else (loop.add_writer, loop.remove_writer)
        )
        add(descriptor, is_ready.set)
        try:
            await is_ready.wait()
        finally:
            # Closed meanwhile: the number may belong to another file by now, which is not watched yet.
            remove(descriptor)


def _classify_failure(status: int, *, is_late: bool) -> Literal["", "cannot_start", "timed_out", "too_much"]:
    if is_late and status == 124:
        return "timed_out"
    if status == subprocesses.TOO_MUCH_OUTPUT:
        return "too_much"
    return "cannot_start" if status == 126 else ""


def _read_status(path: str) -> FileStatus | None:
    try:
        status = os.stat(path)
    except OSError:  # missing, or in a folder that may not be read
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileStatus((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)
