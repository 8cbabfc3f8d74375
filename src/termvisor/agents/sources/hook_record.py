"""One line of the hooks' spool: what every hook writes, and its payload where that was too long for a line."""

import os

import msgspec
from msgspec import Struct

from termvisor.agents.sources.file_scan import opened
from termvisor.model.agent.signal import Hint
from termvisor.model.ids import MuxPaneId

LARGEST = 1 << 20
_VERSION = 1


class HookLine(Struct, frozen=True):
    """The rest of the line is for the adapter."""

    v: int
    agent: str
    event: str
    pane: str = ""
    tmux: str = ""
    """As in the variable ``TMUX``: the server's socket, its pid, the session."""
    pid: int = 0
    file: str = ""
    """The payload stands in this file beside the spool."""

    @property
    def hint(self) -> Hint:
        pane = MuxPaneId(self.pane) if self.pane[:1] == "%" and self.pane[1:].isdecimal() else None
        return Hint(socket=self.tmux.partition(",")[0], mux_pane=pane, pid=max(0, self.pid))


def understood(data: bytes) -> HookLine | None:
    """None for what no hook of ours wrote."""
    try:
        line = msgspec.json.decode(data, type=HookLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line if line.v == _VERSION and line.agent and line.event else None


def beside(folder: str, file: str) -> str:
    """The name of a payload's file; empty when it is not one beside the spool."""
    name = os.path.basename(file)
    is_here = file in (name, f"{folder}/{name}")
    return name if is_here and name and not name.startswith(("hooks.", ".")) else ""


def with_payload(data: bytes, path: str) -> str:
    """The line with the payload in place of its file's name. OSError: it cannot be read; ValueError: it is no JSON."""
    payload = _read(path)
    msgspec.json.decode(payload)
    return _composed(data, payload)


def without_payload(data: bytes) -> str:
    return _composed(data, b"{}")


def _composed(data: bytes, payload: bytes) -> str:
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    fields.pop("file", None)
    return msgspec.json.encode(fields | {"payload": msgspec.Raw(payload)}).decode("utf-8", "replace")


def _read(path: str) -> bytes:
    descriptor = opened(path, may_be_link=False)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid():
            raise OSError(f"{path} belongs to somebody else")
        if found.st_size > LARGEST:
            raise OSError(f"{path} is longer than {LARGEST:,} bytes")
        return os.read(descriptor, LARGEST)
    finally:
        os.close(descriptor)
