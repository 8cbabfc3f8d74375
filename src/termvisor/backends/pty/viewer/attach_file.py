"""The file by which the daemon tells a viewer what to show: where the host and the log are, and the screen so far."""

import os

import msgspec
from msgspec import Struct

from termvisor.system.files import write_private_file


class AttachFile(Struct, frozen=True, kw_only=True):
    """What a viewer needs. ``state`` restores the screen of this size as it was at the offset of the stream."""

    host_socket: str
    token: str
    raw_dir: str
    detach_key: str
    stream: str = ""
    offset: int = 0
    rows: int = 0
    columns: int = 0
    state: bytes = b""


def write_attach_file(path: str, content: AttachFile) -> None:
    """Replace the file; only this user may read it."""
    write_private_file(path, msgspec.msgpack.encode(content))


def read_attach_file(path: str) -> AttachFile | None:
    """Return the content, or None if the file is missing or damaged."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        # The daemon has removed it, or the viewer was started by hand.
        return None
    with os.fdopen(fd, "rb") as file:
        try:
            return msgspec.msgpack.decode(file.read(), type=AttachFile)
        except msgspec.MsgspecError:
            return None
