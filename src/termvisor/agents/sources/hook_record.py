"""Parse one line of the hook spool, and embed its payload file if the payload was too long for a line."""

import os

import msgspec
from msgspec import Struct

from termvisor.agents.sources.file_scan import open_for_reading
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId

MAX_PAYLOAD_BYTES = 1 << 20
_FORMAT_VERSION = 1


class HookRecord(Struct, frozen=True):
    """The common fields of a hook line; the adapter parses the others."""

    v: int
    agent: str
    event: str
    pane: str = ""
    tmux: str = ""
    """The value of ``TMUX``: socket, server pid and session."""
    pid: int = 0
    file: str = ""
    """The payload file, in the folder of the spool."""

    @property
    def hint(self) -> ProcessHint:
        pane = MuxPaneId(self.pane) if self.pane[:1] == "%" and self.pane[1:].isdecimal() else None
        return ProcessHint(socket=self.tmux.partition(",")[0], mux_pane=pane, pid=max(0, self.pid))


def parse_hook_record(data: bytes) -> HookRecord | None:
    """Return None for a line that was not written by a termvisor hook."""
    try:
        record = msgspec.json.decode(data, type=HookRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return record if record.v == _FORMAT_VERSION and record.agent and record.event else None


def find_payload_name(folder: str, file: str) -> str:
    """Return the name of a payload file; empty if it is not in the folder of the spool."""
    name = os.path.basename(file)
    is_in_folder = file in (name, f"{folder}/{name}")
    return name if is_in_folder and name and not name.startswith(("hooks.", ".")) else ""


def embed_payload(data: bytes, path: str) -> str:
    """Return the line with the payload in place of the file name.

    Raises OSError if the file cannot be read, ValueError if it is not JSON.
    """
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
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid():
            raise OSError(f"{path} is owned by another user")
        if status.st_size > MAX_PAYLOAD_BYTES:
            raise OSError(f"{path} is larger than {MAX_PAYLOAD_BYTES:,} bytes")
        return os.read(descriptor, MAX_PAYLOAD_BYTES)
    finally:
        os.close(descriptor)
