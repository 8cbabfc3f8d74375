"""One line of the hooks' spool: what every hook writes, and its payload where that was too long for a line."""

import os

import msgspec
from msgspec import Struct

from termvisor.agents.sources.file_scan import open_for_reading
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId

MAX_PAYLOAD_BYTES = 1 << 20
_FORMAT_VERSION = 1


class HookRecord(Struct, frozen=True):
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
    def hint(self) -> ProcessHint:
        pane = MuxPaneId(self.pane) if self.pane[:1] == "%" and self.pane[1:].isdecimal() else None
        return ProcessHint(socket=self.tmux.partition(",")[0], mux_pane=pane, pid=max(0, self.pid))


def parse_hook_record(data: bytes) -> HookRecord | None:
    """None for what no hook of ours wrote."""
    try:
        line = msgspec.json.decode(data, type=HookRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line if line.v == _FORMAT_VERSION and line.agent and line.event else None


def find_payload_name(folder: str, file: str) -> str:
    """The name of a payload's file; empty when it is not one beside the spool."""
    name = os.path.basename(file)
    is_here = file in (name, f"{folder}/{name}")
    return name if is_here and name and not name.startswith(("hooks.", ".")) else ""


def embed_payload(data: bytes, path: str) -> str:
    """The line with the payload in place of its file's name. OSError: it cannot be read; ValueError: it is no JSON."""
    payload = _read_payload(path)
    msgspec.json.decode(payload)
    return _replace_payload(data, payload)


def embed_empty_payload(data: bytes) -> str:
    return _replace_payload(data, b"{}")


def _replace_payload(data: bytes, payload: bytes) -> str:
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    fields.pop("file", None)
    return msgspec.json.encode(fields | {"payload": msgspec.Raw(payload)}).decode("utf-8", "replace")


def _read_payload(path: str) -> bytes:
    descriptor = open_for_reading(path, follow_links=False)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid():
            raise OSError(f"{path} belongs to somebody else")
        if found.st_size > MAX_PAYLOAD_BYTES:
            raise OSError(f"{path} is longer than {MAX_PAYLOAD_BYTES:,} bytes")
        return os.read(descriptor, MAX_PAYLOAD_BYTES)
    finally:
        os.close(descriptor)
