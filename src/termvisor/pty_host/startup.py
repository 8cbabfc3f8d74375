"""Start the PTY host: its command line, and the state handed over when it re-executes itself to upgrade.

A re-exec keeps the process, its children and its descriptors, so no program notices. The command line and the encoded
state must stay compatible with older and newer versions: unknown lines and unknown fields are ignored.
"""

from __future__ import annotations

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_BOOT_CODE = "import sys; sys.path[:0] = [{root!r}]; from termvisor.pty_host.process import main; main()"
_STATE_HEADER = b"pty-host 1"
PROTOCOL_VERSION = 1
EXIT_ALREADY_RUNNING = 3
"""Exit status of a host that found another one listening on its socket."""

Fields = dict[str, str]


class HostOptions:
    """Command-line options. The host runs without site-packages, from the package folder ``root``."""

    __slots__ = ("raw_dir", "recorder_socket", "result_dir", "socket")

    def __init__(self, socket: str, recorder_socket: str, raw_dir: str, result_dir: str):
        self.socket, self.recorder_socket = socket, recorder_socket
        self.raw_dir, self.result_dir = raw_dir, result_dir

    def build_command(self, python: str, root: str) -> list[str]:
        paths = [self.socket, self.recorder_socket, self.raw_dir, self.result_dir]
        return [python, "-ISE", "-c", _BOOT_CODE.format(root=root), *paths]


def parse_arguments(arguments: list[str]) -> tuple[HostOptions, int | None]:
    """Return the options and, after a re-exec, the descriptor from which to read the previous state."""
    socket, recorder_socket, raw_dir, result_dir, *state = arguments
    return HostOptions(socket, recorder_socket, raw_dir, result_dir), int(state[0]) if state else None


class HostState:
    """What survives a re-exec: the listening socket, the terminals (as fields) and the grants of viewers."""

    def __init__(self, server_fd: int, next_number: int, umask: int, descriptor_limit: int):
        self.server_fd, self.next_number = server_fd, next_number
        self.umask, self.descriptor_limit = umask, descriptor_limit
        self.pending_fds: list[int] = []
        self.terminals: list[Fields] = []
        self.grants: list[Fields] = []

    def list_descriptors(self) -> list[int]:
        held = [
            int(row[name])
            for row in self.terminals
            for name in ("master", "gate", "error")
            if int(row.get(name, "-1")) >= 0
        ]
        return [self.server_fd, *self.pending_fds, *held]


def replace_process(command: list[str], state: HostState) -> None:
    """Replace the program of this process. If exec fails, raise OSError with everything unchanged."""
    fds = [*state.list_descriptors(), _write_state_file(encode_state(state))]
    for fd in fds:
        posix.set_inheritable(fd, True)
    try:
        posix.execv(command[0], [*command, str(fds[-1])])
    finally:
        for fd in fds:
            posix.set_inheritable(fd, False)
        posix.close(fds[-1])


def read_state(fd: int) -> HostState:
    """Read the state that the previous program left."""
    text = b""
    while chunk := posix.read(fd, 1 << 16):
        text += chunk
    posix.close(fd)
    state = decode_state(text)
    for inherited_fd in state.list_descriptors():
        posix.set_inheritable(inherited_fd, False)
    return state


def encode_state(state: HostState) -> bytes:
    own = {"server": str(state.server_fd), "next": str(state.next_number)}
    own |= {"umask": str(state.umask), "limit": str(state.descriptor_limit)}
    lines = [_STATE_HEADER, b"host " + encode_fields(own)]
    lines += [b"waiting fd=%d" % fd for fd in state.pending_fds]
    lines += [b"terminal " + encode_fields(row) for row in state.terminals]
    lines += [b"grant " + encode_fields(row) for row in state.grants]
    return b"\n".join(lines)


def decode_state(text: bytes) -> HostState:
    state = HostState(-1, 1, 0o022, 1024)
    first, *lines = text.split(b"\n")
    if first != _STATE_HEADER:
        raise SystemExit(f"unknown state format of the PTY host: {first!r}")
    for line in lines:
        kind, *words = line.split(b" ")
        row = decode_fields(words)
        # Ignore other kinds, which a newer version may have written.
        if kind == b"host":
            numbers = [int(row[name]) for name in ("server", "next", "umask", "limit")]
            state.server_fd, state.next_number, state.umask, state.descriptor_limit = numbers
        elif kind == b"waiting":
            state.pending_fds.append(int(row["fd"]))
        elif kind == b"terminal":
            state.terminals.append(row)
        elif kind == b"grant":
            state.grants.append(row)
    return state


def encode_fields(row: Fields) -> bytes:
    """Format fields as `name=value` words; values must be free of blanks."""
    return " ".join([f"{name}={value}" for name, value in row.items()]).encode("ascii")


def decode_fields(words: Iterable[bytes]) -> Fields:
    pairs = [word.decode("ascii", "replace").partition("=") for word in words]
    return {name: value for name, _, value in pairs}


def _write_state_file(text: bytes) -> int:
    if sys.platform == "linux":
        fd = posix.memfd_create("pty-host-state")
    else:  # untested
        name = f"/tmp/termvisor-pty-host-{posix.getpid()}"  # noqa: S108 - exclusive, private, unlinked at once
        fd = posix.open(name, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL, 0o600)
        posix.unlink(name)
    while text:
        text = text[posix.write(fd, text) :]
    posix.lseek(fd, 0, 0)
    return fd
