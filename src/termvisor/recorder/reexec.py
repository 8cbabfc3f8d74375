"""What one image of the recorder leaves to the next when it replaces itself, so that no byte is lost.

The process stays the same, and with it every descriptor that is named here; the pipes fill meanwhile and are read on.
"""

import posix
import sys

_FORMAT_HEADER = b"state 1"


class HandoverState:
    """``open``: pane, epoch, descriptor, offset, last time. ``closed``: pane, epoch, size, flag."""

    def __init__(self, server_fd: int, unreported_bytes: int, pending_fds: list[int]):
        self.server_fd, self.unreported_bytes, self.pending_fds = server_fd, unreported_bytes, pending_fds
        self.open_streams: list[tuple[int, int, int, int, int]] = []
        self.closed_streams: list[tuple[int, int, int, int]] = []

    def list_descriptors(self) -> list[int]:
        return [self.server_fd, *self.pending_fds, *(fd for _, _, fd, _, _ in self.open_streams)]


def replace_process(command: list[str], state: HandoverState) -> None:
    """Replace this process's program. Comes back only with an OSError; then everything is as it was."""
    passed = [*state.list_descriptors(), _write_state_file(_encode_state(state))]
    for fd in passed:
        posix.set_inheritable(fd, True)
    try:
        posix.execv(command[0], [*command, str(passed[-1])])
    finally:
        for fd in passed:
            posix.set_inheritable(fd, False)
        posix.close(passed[-1])


def read_state(fd: int) -> HandoverState:
    """Read what the earlier image left."""
    text = b""
    while part := posix.read(fd, 1 << 16):
        text += part
    posix.close(fd)
    state = _decode_state(text)
    for passed in state.list_descriptors():
        posix.set_inheritable(passed, False)
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
        raise SystemExit(f"the recorder cannot go on from {first!r}")
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
