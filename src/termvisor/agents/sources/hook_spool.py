"""Read the hook spool, a file to which agent hooks append one line per event, even while no daemon is running.

No line is lost or read twice: reading resumes at the position stored with the last record. That is all the place in the
spool means: events are ordered by their times, because hooks run side by side. A full spool is rotated (its file is
renamed), and the new file is read once no process can append to the old one. When records are stored, their lines are
overwritten with blanks, because they may hold secrets; rotated spools and payload files are removed.
"""

import contextlib
import errno
import fcntl
import os
import re
import sys
from collections.abc import Collection, Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.statements import hash_text
from termvisor.agents.sources.source_reader import RESCAN_DELAY_S, SourceScanResult, open_for_reading
from termvisor.agents.sources.tail import READ_CHUNK_BYTES, FileTail, TailLine
from termvisor.clock import NS, Clock
from termvisor.errors import Unavailable
from termvisor.model.agent.signal import ProcessHint
from termvisor.model.ids import MuxPaneId
from termvisor.system.files import make_private_folder

HOOK_SOURCE = "hook"
SPOOL_FILE_NAME = "hooks.jsonl"
MAX_SPOOL_BYTES = 8 << 20
MAX_PAYLOAD_BYTES = 1 << 20
_FORMAT_VERSION = 1
# How long the new spool waits for a hook that still has the rotated one open.
_MAX_WRITER_WAIT_NS = 5 * NS
# How long to read a rotated spool if the kernel cannot report whether it has writers.
_MAX_LATE_READ_NS = 60 * NS
# A payload file older than this was left by a hook that was killed.
_MAX_PAYLOAD_AGE_NS = 86_400 * NS
_WRITTEN_LINE = re.compile(rb"[^\n ][^\n]*")
_ROTATED_NAME = re.compile(r"hooks\.(\d+)\.jsonl")


class HookRecord(Struct, frozen=True):
    """The common fields of a hook line; the adapter parses the others."""

    v: int
    agent: str
    event: str
    pane: str = ""
    tmux: str = ""
    """The value of ``TMUX``: socket, server pid and session."""
    pid: int = 0
    at: object = None
    """When the hook ran; lines without a time are told apart by their place in the spool."""
    file: str = ""
    """The payload file, in the folder of the spool."""

    @property
    def hint(self) -> ProcessHint:
        pane = MuxPaneId(self.pane) if self.pane[:1] == "%" and self.pane[1:].isdecimal() else None
        return ProcessHint(socket=self.tmux.partition(",")[0], mux_pane=pane, pid=max(0, self.pid))


class SpoolPosition(Struct, frozen=True, order=True):
    """How far the spool has been read: `life` and `seq` of the last stored record."""

    life: int = 0
    offset: int = 0


class HookSpool:
    """Reader of the spool in ``folder``, which is private to the user. Both are created if missing."""

    source = HOOK_SOURCE

    def __init__(self, folder: str, position: SpoolPosition, clock: Clock):
        self.where = f"{folder}/{SPOOL_FILE_NAME}"
        self._folder, self._clock = folder, clock
        self._current_path, self._base_life, self._tail = "", position.life, FileTail(position.offset)
        self._rotated_at = 0
        self._late_tails: dict[str, FileTail] = {}
        """Rotated spools that a hook still has open although the new one is being read."""
        self._finished_spools: list[str] = []
        """Rotated spools to remove when a later record is stored."""
        self._files_to_remove: list[str] = []
        """Files to remove when the records of this scan are stored."""
        self._lines_to_overwrite: list[tuple[str, FileTail, list[TailLine]]] = []
        """Lines to overwrite when the records of this scan are stored."""

    def is_relevant_path(self, path: str) -> bool:
        """Return True only for spools, because a payload file is complete before the line that names it is written."""
        return os.path.basename(path).startswith("hooks.")

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        make_private_folder(self._folder)
        if not self._current_path:
            self._resume()
        if not self._is_reading_rotated:
            _create_spool(self.where)
        result = SourceScanResult(folders=[self._folder])
        for path in list(self._late_tails):
            self._read_late_spool(result, path)
        with _open_private(self._current_path) as descriptor:
            self._read_current(result, descriptor)
        if result.records and not self._is_reading_rotated:
            self._files_to_remove, self._finished_spools = self._files_to_remove + self._finished_spools, []
        return result

    def confirm_stored(self) -> None:
        for path, tail, lines in self._lines_to_overwrite:
            # The file may have been removed; a full disk does not matter, because nothing grows.
            with contextlib.suppress(OSError), _open_for_writing(path) as descriptor:
                for line in lines:
                    _overwrite_bytes(descriptor, line.end_offset - 1 - len(line.data), line.data)
                tail.accept_rewritten_bytes(descriptor)
        self._lines_to_overwrite = []
        for path in self._files_to_remove:
            # A user may have emptied the folder. The next daemon tries again to remove what is left.
            with contextlib.suppress(OSError):
                os.remove(path)
        self._files_to_remove = []

    @property
    def _current_life(self) -> int:
        return self._base_life + self._tail.life

    @property
    def _is_reading_rotated(self) -> bool:
        return self._current_path != self.where

    def _build_rotated_path(self, life: int) -> str:
        return f"{self._folder}/hooks.{life}.jsonl"

    def _resume(self) -> None:
        """Continue at the stored position: in a spool that was rotated since, or in the current one."""
        names = os.listdir(self._folder)
        lives = sorted(int(match[1]) for name in names if (match := _ROTATED_NAME.fullmatch(name)))
        self._files_to_remove += [self._build_rotated_path(life) for life in lives if life < self._base_life]
        unread = [life for life in lives if life >= self._base_life]
        # The stored spool was removed: continue at the start of the oldest one that is left.
        if unread and unread[0] > self._base_life:
            self._base_life, self._tail = unread[0], FileTail()
        self._current_path = self._build_rotated_path(self._base_life) if unread else self.where
        self._rotated_at = self._clock.now()
        self._overwrite_stored_lines()
        for name in names:
            self._remove_stale_payload(f"{self._folder}/{name}")

    def _overwrite_stored_lines(self) -> None:
        """Overwrite the lines that an earlier daemon stored, if it was killed before it did so."""
        with contextlib.suppress(OSError), _open_for_writing(self._current_path) as descriptor:
            # A shorter file is a new one that was not read yet.
            end = self._tail.offset if os.fstat(descriptor).st_size >= self._tail.offset else 0
            for start in range(0, end, READ_CHUNK_BYTES):
                data = os.pread(descriptor, min(READ_CHUNK_BYTES, end - start), start)
                for line in _WRITTEN_LINE.finditer(data):
                    _overwrite_bytes(descriptor, start + line.start(), line[0])

    def _remove_stale_payload(self, path: str) -> None:
        # A hook or another reader may remove the file at the same time.
        with contextlib.suppress(OSError):
            is_payload = not os.path.basename(path).startswith("hooks.")
            if is_payload and self._clock.now() - os.lstat(path).st_mtime_ns > _MAX_PAYLOAD_AGE_NS:
                os.remove(path)

    def _read_current(self, result: SourceScanResult, descriptor: int) -> None:
        # Checked before the read: a line written in between would be lost if this were treated as the last read.
        has_writer = _has_writer(descriptor) if self._is_reading_rotated else True
        lines = self._read_lines(result, self._tail, descriptor, self._current_path)
        for line in lines:
            self._add_record(result, line, SpoolPosition(self._current_life, line.end_offset))
        is_full = self._tail.offset >= MAX_SPOOL_BYTES
        if lines or self._tail.has_unread_data:
            is_unfinished = self._tail.has_unread_data or self._is_reading_rotated or is_full
            result.rescan_after_s = 0.0 if is_unfinished else None
        elif self._is_reading_rotated:
            self._finish_rotated(result, has_writer)
        elif is_full and not self._tail.has_partial_line:
            self._rotate(result)
        if self._late_tails and result.rescan_after_s is None:
            result.rescan_after_s = 1.0

    def _rotate(self, result: SourceScanResult) -> None:
        rotated_path = self._build_rotated_path(self._current_life)
        # Hooks that have the file open continue to append to it under its new name.
        os.rename(self.where, rotated_path)
        _create_spool(self.where)
        self._base_life, self._tail.life, self._current_path = self._current_life, 0, rotated_path
        self._rotated_at = self._clock.now()
        result.rescan_after_s = 0.0

    def _finish_rotated(self, result: SourceScanResult, has_writer: bool | None) -> None:
        """Continue with the new spool once this one has no writer, or after _MAX_WRITER_WAIT_NS."""
        if has_writer is not False and self._clock.now() - self._rotated_at < _MAX_WRITER_WAIT_NS:
            result.rescan_after_s = RESCAN_DELAY_S
            return
        if has_writer is not False:
            self._late_tails[self._current_path] = self._tail
        else:
            self._finished_spools.append(self._current_path)
        self._base_life, self._tail, self._current_path = self._current_life + 1, FileTail(), self.where
        result.rescan_after_s = 0.0

    def _read_late_spool(self, result: SourceScanResult, path: str) -> None:
        """Read late lines of a rotated spool. They carry the current position, so that positions never go back."""
        try:
            with _open_private(path) as descriptor:
                has_writer = _has_writer(descriptor)
                lines = self._read_lines(result, self._late_tails[path], descriptor, path)
        except (OSError, Unavailable):  # removed or replaced: give it up
            has_writer, lines = False, []
        for line in lines:
            self._add_record(result, line, SpoolPosition(self._current_life, self._tail.offset))
        is_timed_out = self._clock.now() - self._rotated_at > _MAX_LATE_READ_NS
        if not lines and (has_writer is False or (has_writer is None and is_timed_out)):
            del self._late_tails[path]
            self._files_to_remove.append(path)

    def _read_lines(self, result: SourceScanResult, tail: FileTail, descriptor: int, path: str) -> list[TailLine]:
        dropped = tail.dropped
        lines = tail.read_lines(descriptor)
        self._lines_to_overwrite += [(path, tail, lines)] if lines else []
        result.dropped += tail.dropped - dropped
        return lines

    def _add_record(self, result: SourceScanResult, line: TailLine, position: SpoolPosition) -> None:
        hook_record = parse_hook_record(line.data)
        if hook_record is None:
            result.dropped += 1
            result.detail = "it contains lines that were not written by a termvisor hook"
            return
        record = SourceRecord(
            source=HOOK_SOURCE,
            text=self._read_record_text(result, line.data, hook_record)
            if hook_record.file
            else line.data.decode("utf-8", "replace"),
            at=self._clock.now(),
            path=self.where,
            hint=hook_record.hint,
            # A line that is written again, with the same time and content, is the same event.
            event_id=hash_text(line.data) if hook_record.at else f"{position.life}@{line.end_offset}",
            seq=position.offset,
            life=position.life,
        )
        result.records.append(record)

    def _read_record_text(self, result: SourceScanResult, data: bytes, hook_record: HookRecord) -> str:
        """Return the line with its payload, or an empty payload if that is missing, so that the event is not lost."""
        name = find_payload_name(self._folder, hook_record.file)
        path = f"{self._folder}/{name}"
        self._files_to_remove += [path] if name else []  # also an unreadable one: it would be left behind
        try:
            if not name:
                raise OSError(f"{hook_record.event} names a payload file outside the spool folder")
            return embed_payload(data, read_payload(path))
        except (OSError, ValueError) as error:
            result.dropped += 1
            result.detail = f"payload missing: {error}"
            return embed_payload(data, b"{}")


def _create_spool(path: str) -> None:
    with contextlib.suppress(FileExistsError):  # a hook creates it as well
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


@contextlib.contextmanager
def _open_private(path: str) -> Iterator[int]:
    """Open a file of the user and make it private (mode 600). Raises Unavailable for a link or another user's file."""
    with contextlib.ExitStack() as stack:
        try:
            descriptor = stack.enter_context(open_for_reading(path, follow_links=False))
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise Unavailable(f"{path} is a symbolic link and is not read", hint="Remove the link.") from error
            raise
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid():
            raise Unavailable(f"{path} is owned by another user and is not read", hint="Remove the file.")
        # A hook creates the file with the umask of its agent, but other users must not read the payloads.
        if status.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
        yield descriptor


@contextlib.contextmanager
def _open_for_writing(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _overwrite_bytes(descriptor: int, offset: int, data: bytes) -> None:
    """Overwrite these bytes with blanks, which a reader skips, unless the file holds others by now."""
    if os.pread(descriptor, len(data), offset) == data:
        os.pwrite(descriptor, b" " * len(data), offset)


def _has_writer(descriptor: int) -> bool | None:
    """Return True if a process has the file open for writing; None if the kernel cannot tell.

    Linux grants a read lease only on a file without writers.
    """
    if sys.platform != "linux":
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        # EAGAIN means that the file is open for writing; some file systems support no leases at all.
        return True if error.errno == errno.EAGAIN else None
    return False


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


def embed_payload(data: bytes, payload: bytes) -> str:
    """Return the line with the payload in place of the file name."""
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    fields.pop("file", None)
    return msgspec.json.encode(fields | {"payload": msgspec.Raw(payload)}).decode("utf-8", "replace")


def read_payload(path: str) -> bytes:
    """Read a payload file. Raises OSError if it cannot be read, ValueError if it is not JSON."""
    with open_for_reading(path, follow_links=False) as descriptor:
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid():
            raise OSError(f"{path} is owned by another user")
        if status.st_size > MAX_PAYLOAD_BYTES:
            raise OSError(f"{path} is larger than {MAX_PAYLOAD_BYTES:,} bytes")
        payload = os.read(descriptor, MAX_PAYLOAD_BYTES)
    msgspec.json.decode(payload)
    return payload
