"""What one image of the recorder leaves to the next when it replaces itself, so that no byte is lost.

The process stays the same, and with it every descriptor that is named here; the pipes fill meanwhile and are read on.
"""

import posix
import sys

_FORMAT = b"state 1"


class State:
    """``open``: pane, epoch, descriptor, offset, last time. ``closed``: pane, epoch, size, flag."""

    def __init__(self, server: int, unheard: int, waiting: list[int]):
        self.server, self.unheard, self.waiting = server, unheard, waiting
        self.open: list[tuple[int, int, int, int, int]] = []
        self.closed: list[tuple[int, int, int, int]] = []

    def descriptors(self) -> list[int]:
        return [self.server, *self.waiting, *(fd for _, _, fd, _, _ in self.open)]


def become(command: list[str], state: State) -> None:
    """Replace this process's program. Comes back only with an OSError; then everything is as it was."""
    passed = [*state.descriptors(), _leave(_encode(state))]
    for fd in passed:
        posix.set_inheritable(fd, True)
    try:
        posix.execv(command[0], [*command, str(passed[-1])])
    finally:
        for fd in passed:
            posix.set_inheritable(fd, False)
        posix.close(passed[-1])


def take(fd: int) -> State:
    """Read what the earlier image left."""
    text = b""
    while part := posix.read(fd, 1 << 16):
        text += part
    posix.close(fd)
    state = _decode(text)
    for passed in state.descriptors():
        posix.set_inheritable(passed, False)
    return state


def _encode(state: State) -> bytes:
    rows: list[tuple[bytes, tuple[int, ...]]] = [(b"server", (state.server,)), (b"unheard", (state.unheard,))]
    rows += [(b"waiting", (fd,)) for fd in state.waiting]
    rows += [(b"open", numbers) for numbers in state.open]
    rows += [(b"closed", numbers) for numbers in state.closed]
    lines = [b" ".join([kind, *(b"%d" % number for number in numbers)]) for kind, numbers in rows]
    return b"\n".join([_FORMAT, *lines])


def _decode(text: bytes) -> State:
    state = State(-1, 0, [])
    first, *lines = text.split(b"\n")
    if first != _FORMAT:
        raise SystemExit(f"the recorder cannot go on from {first!r}")
    for line in lines:
        kind, *words = line.split(b" ")
        _restore(state, kind, [int(word) for word in words])
    return state


def _restore(state: State, kind: bytes, numbers: list[int]) -> None:
    if kind == b"server":
        state.server = numbers[0]
    elif kind == b"unheard":
        state.unheard = numbers[0]
    elif kind == b"waiting":
        state.waiting.append(numbers[0])
    elif kind == b"open":
        pane, epoch, fd, offset, last_at = numbers
        state.open.append((pane, epoch, fd, offset, last_at))
    elif kind == b"closed":
        pane, epoch, size, flag = numbers
        state.closed.append((pane, epoch, size, flag))


def _leave(text: bytes) -> int:
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
