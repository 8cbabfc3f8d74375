"""Start the recorder: its command line, and the state handed over when it re-executes itself to upgrade.

A re-exec keeps the process and its descriptors, and the pipes buffer in the meantime, so no byte is lost. The
command line and the encoded state must stay compatible with older and newer versions.
"""

import posix
import sys

_BOOT_CODE = "import sys; sys.path[:0] = [{root!r}]; from termvisor.recorder.process import main; main()"
_STATE_HEADER = b"state 1"
PROTOCOL_VERSION = 1
EXIT_ALREADY_RUNNING = 3
"""Exit status of a recorder that found another one listening on its socket."""
EXIT_LOCKED = 4
"""Exit status of a recorder whose raw log another recorder writes, which listens on another socket."""


class RecorderOptions:
    """Command-line options. The recorder runs without site-packages, from the package folder ``root``."""

    __slots__ = ("cap_bytes", "raw_dir", "segment_bytes", "socket")

    def __init__(self, socket: str, raw_dir: str, segment_bytes: int, cap_bytes: int):
        self.socket, self.raw_dir = socket, raw_dir
        self.segment_bytes, self.cap_bytes = segment_bytes, cap_bytes

    def build_command(self, python: str, root: str) -> list[str]:
        numbers = [str(self.segment_bytes), str(self.cap_bytes)]
        return [python, "-ISE", "-c", _BOOT_CODE.format(root=root), self.socket, self.raw_dir, *numbers]


def parse_arguments(arguments: list[str]) -> tuple[RecorderOptions, int | None]:
    """Return the options and, after a re-exec, the descriptor from which to read the previous state."""
    socket, raw_dir, segment_bytes, cap_bytes, *state = arguments
    return RecorderOptions(socket, raw_dir, int(segment_bytes), int(cap_bytes)), int(state[0]) if state else None


def get_lock_path(raw_dir: str) -> str:
    """Return the file that the recorder of a raw log locks; it holds the recorder's pid and its socket."""
    return f"{raw_dir}.lock"


class HandoverState:
    """``open_streams``: pane, epoch, descriptor, offset, last time. ``closed_streams``: pane, epoch, size, flag."""

    def __init__(self, server_fd: int, unreported_bytes: int, pending_fds: list[int]):
        self.server_fd, self.unreported_bytes, self.pending_fds = server_fd, unreported_bytes, pending_fds
        self.lock_fd = -1
        self.open_streams: list[tuple[int, int, int, int, int]] = []
        self.closed_streams: list[tuple[int, int, int, int]] = []

    def list_descriptors(self) -> list[int]:
        lock = [self.lock_fd] if self.lock_fd >= 0 else []
        return [self.server_fd, *lock, *self.pending_fds, *(fd for _, _, fd, _, _ in self.open_streams)]


def replace_process(command: list[str], state: HandoverState) -> None:
    """Replace the program of this process. If exec fails, raise OSError with everything unchanged."""
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
        (b"lock", (state.lock_fd,)),
    ]
    rows += [(b"waiting", (fd,)) for fd in state.pending_fds]
    rows += [(b"open", numbers) for numbers in state.open_streams]
    rows += [(b"closed", numbers) for numbers in state.closed_streams]
    lines = [b" ".join([kind, *(b"%d" % number for number in numbers)]) for kind, numbers in rows]
    return b"\n".join([_STATE_HEADER, *lines])


def _decode_state(text: bytes) -> HandoverState:
    state = HandoverState(-1, 0, [])
    first, *lines = text.split(b"\n")
    if first != _STATE_HEADER:
        raise SystemExit(f"unknown recorder state format: {first!r}")
    for line in lines:
        kind, *words = line.split(b" ")
        numbers = [int(word) for word in words]
        # Ignore other kinds, which a newer version may have written.
        if kind == b"server":
            state.server_fd = numbers[0]
        elif kind == b"unheard":
            state.unreported_bytes = numbers[0]
        elif kind == b"lock":
            state.lock_fd = numbers[0]
        elif kind == b"waiting":
            state.pending_fds.append(numbers[0])
        elif kind == b"open":
            pane, epoch, fd, offset, last_at = numbers
            state.open_streams.append((pane, epoch, fd, offset, last_at))
        elif kind == b"closed":
            pane, epoch, size, flag = numbers
            state.closed_streams.append((pane, epoch, size, flag))
    return state


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
