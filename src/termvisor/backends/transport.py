"""The contract of a transport: how commands, byte streams and files reach the target that a backend's servers run on.

A backend reaches its servers through a transport only, so that one backend works on this machine, over ssh and in
containers. `transports/local.py` is the transport to this machine.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.terminal.target import LinkHealth, Target


class TransportResult(Struct, frozen=True):
    """How a command ended. ``failure`` is set if it did not start or did not exit by itself."""

    status: int = 0
    out: bytes = b""
    errors: bytes = b""
    failure: Literal["", "missing", "cannot_start", "timed_out", "too_much", "unreachable"] = ""


class FileStatus(Struct, frozen=True):
    """The identity, size and time of a regular file; two files with the same identity are the same file."""

    identity: tuple[int, int]
    size: int
    modified_at: int


class ByteChannel(Protocol):
    """Standard input and output of a program on the target, which ends with this channel and with this process."""

    async def read(self, limit: int = 1 << 16) -> bytes:
        """Return the next bytes; empty at the end."""

    async def write(self, data: bytes) -> None:
        """Send all bytes. Raises Unavailable if the program has ended."""

    async def close(self) -> None:
        """End the program."""


class Transport(Protocol):
    """A connection to one target. Every method raises Unavailable if the target cannot be reached."""

    target: Target

    @property
    def health(self) -> LinkHealth:
        """Return the state of the connection as it was last observed."""

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 10.0) -> TransportResult:
        """Run a short command on the target. At the timeout it is killed."""

    async def open_channel(self, argv: Sequence[str]) -> ByteChannel:
        """Start a program whose input and output are a channel. Its first byte is the program's first byte."""

    async def read_statuses(self, paths: Sequence[str]) -> list[FileStatus | None]:
        """Return the status of each file; None for one that is missing, no regular file, or not readable."""

    async def read_file(self, path: str, offset: int, limit: int) -> bytes:
        """Return up to ``limit`` bytes of a file from ``offset``. Raises NotFound if there is no such file."""

    async def write_file(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Replace a file in one step."""

    async def close(self) -> None:
        """End the connection and all its channels."""
