"""Hand over the recorder's state when the process replaces its program with exec, so that no byte is lost.

The process and its descriptors stay the same; the pipes buffer meanwhile. The encoded state is a contract with older
and newer versions.
"""

import posix
import sys

_FORMAT_HEADER = b"state 1"


class HandoverState:
    """``open_streams``: pane, epoch, descriptor, offset, last time. ``closed_streams``: pane, epoch, size, flag."""

    def __init__(self, server_fd: int, unreported_bytes: int, pending_fds: list[int]):
        self.server_fd, self.unreported_bytes, self.pending_fds = server_fd, unreported_bytes, pending_fds
        self.open_streams: list[tuple[int, int, int, int, int]] = []
        self.closed_streams: list[tuple[int, int, int, int]] = []

    def list_descriptors(self) -> list[int]:
        return [self.server_fd, *self.pending_fds, *(fd for _, _, fd, _, _ in self.open_streams)]


def replace_process(command: list[str], state: HandoverState) -> None:
    """Replace the program of this process. Raises OSError, with everything as before, if exec fails."""
    fds = [*state.list_descriptors(), _write_state_file(_encode_state(state))]
    for fd in fds:
        posix.set_inheritable(fd, True)
    try:
        posix.execv(command[0], [*command, str(fds[-1])])
    finally:
        for fd in fds:
            posix.set_inheritable(fd, False)
        posix.close(fds[-1])


def read_state(fd: int) -> HandoverState:
    """Read the state that the previous program left."""
    text = b""
    while chunk := posix.read(fd, 1 << 16):
        text += chunk
    posix.close(fd)
    state = _decode_state(text)
    for inherited_fd in state.list_descriptors():
        posix.set_inheritable(inherited_fd, False)
    return state


def _encode_state(state: HandoverState) -> bytes:
    rows: list[tuple[bytes, tuple[int, ...]]] = [
        (b"server", (state.server_fd,)),
        (b"unheard", (state.unreported_bytes,)),
    ]
    rows += [(b"waiting", (fd,)) for fd in state.pending_fds]
    rows += [(b"open", numbers) for numbers in state.open_streams]
    rows += [(b"closed", numbers) for numbers in state.closed_streams]
    lines = [b" ".join([kind, *(b"%d" % number for number in numbers)]) for kind, numbers in rows]
    return b"\n".join([_FORMAT_HEADER, *lines])


def _decode_state(text: bytes) -> HandoverState:
    state = HandoverState(-1, 0, [])
    first, *lines = text.split(b"\n")
    if first != _FORMAT_HEADER:
        raise SystemExit(f"unknown recorder state format: {first!r}")
    for line in lines:
        kind, *words = line.split(b" ")
        _restore_row(state, kind, [int(word) for word in words])
    return state


def _restore_row(state: HandoverState, kind: bytes, numbers: list[int]) -> None:
    if kind == b"server":
        state.server_fd = numbers[0]
    elif kind == b"unheard":
        state.unreported_bytes = numbers[0]
    elif kind == b"waiting":
        state.pending_fds.append(numbers[0])
    elif kind == b"open":
        pane, epoch, fd, offset, last_at = numbers
        state.open_streams.append((pane, epoch, fd, offset, last_at))
    elif kind == b"closed":
        pane, epoch, size, flag = numbers
        state.closed_streams.append((pane, epoch, size, flag))


def _write_state_file(text: bytes) -> int:
    if sys.platform == "linux":
        fd = posix.memfd_create("recorder-state")
    else:  # untested
        name = f"/tmp/termvisor-recorder-{posix.getpid()}"  # noqa: S108 - exclusive, private, unlinked at once
        fd = posix.open(name, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL, 0o600)
        posix.unlink(name)
    while text:
        text = text[posix.write(fd, text) :]
    posix.lseek(fd, 0, 0)
    return fd
