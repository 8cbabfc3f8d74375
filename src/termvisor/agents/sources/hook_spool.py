"""The hooks' spool: a file to which agents' hooks append a line each, also while nobody reads.

Nothing is lost and nothing read twice: reading begins at the mark that was stored with the last record. A spool that is
full is renamed, and what took its place is read once nobody can append to the old one any more. An old spool, and the
files that its lines name, are removed when the records are stored.
"""

import contextlib
import errno
import fcntl
import os
import re
import sys
from collections.abc import Collection, Iterator

from msgspec import Struct

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.file_scan import open_for_reading
from termvisor.agents.sources.hook_record import (
    HookRecord,
    embed_empty_payload,
    embed_payload,
    find_payload_name,
    parse_hook_record,
)
from termvisor.agents.sources.reader import RESCAN_DELAY_S, SourceScanResult
from termvisor.agents.sources.tail import FileTail, TailLine
from termvisor.clock import NS, Clock
from termvisor.errors import Unavailable
from termvisor.settings import make_private_folder

HOOK_SOURCE = "hook"
SPOOL_FILE_NAME = "hooks.jsonl"
MAX_SPOOL_BYTES = 8 << 20
_MAX_WRITER_WAIT_NS = 5 * NS
"""How long the new spool waits for a hook that has the old one open."""
_MAX_LATE_READ_NS = 60 * NS
"""How long an old spool is read where the kernel does not tell who has it open."""
_MAX_PAYLOAD_AGE_NS = 86_400 * NS
"""A payload of that age that is still there was left by a hook that was killed."""
_ROTATED_NAME = re.compile(r"hooks\.(\d+)\.jsonl")


class SpoolPosition(Struct, frozen=True, order=True):
    """How far the spool is read: `life` and `seq` of the last record that is stored."""

    life: int = 0
    offset: int = 0


class HookSpool:
    """``folder`` is private; it and the spool in it are made when they are missing."""

    source = HOOK_SOURCE

    def __init__(self, folder: str, position: SpoolPosition, clock: Clock):
        self.where = f"{folder}/{SPOOL_FILE_NAME}"
        self._folder, self._clock = folder, clock
        self._current_path, self._base_life, self._tail = "", position.life, FileTail(position.offset)
        self._rotated_at = 0
        self._late_tails: dict[str, FileTail] = {}
        """Old spools that somebody still has open though we went on."""
        self._finished_spools: list[str] = []
        """Old spools that go when a record behind them is stored."""
        self._files_to_remove: list[str] = []
        """Files that go when the records of this look are stored."""

    def is_relevant_path(self, path: str) -> bool:
        """Payloads come before the line that names them."""
        return os.path.basename(path).startswith("hooks.")

    def scan(self, changed_paths: Collection[str] | None) -> SourceScanResult:
        make_private_folder(self._folder)
        if not self._current_path:
            self._resume()
        if not self._is_reading_rotated:
            _create_spool(self.where)
        look = SourceScanResult(records=[], folders=[self._folder])
        for path in list(self._late_tails):
            self._read_late_spool(look, path)
        with _open_private(self._current_path) as descriptor:
            self._read_current(look, descriptor)
        if look.records and not self._is_reading_rotated:
            self._files_to_remove, self._finished_spools = self._files_to_remove + self._finished_spools, []
        return look

    def confirm_stored(self) -> None:
        for path in self._files_to_remove:
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
        """Where an earlier reader stopped: in a spool that was renamed since, or in the one that is being written."""
        names = os.listdir(self._folder)
        lives = sorted(int(found[1]) for name in names if (found := _ROTATED_NAME.fullmatch(name)))
        self._files_to_remove += [self._build_rotated_path(life) for life in lives if life < self._base_life]
        ahead = [life for life in lives if life >= self._base_life]
        if ahead and ahead[0] > self._base_life:
            self._base_life, self._tail = ahead[0], FileTail()
        self._current_path = self._build_rotated_path(self._base_life) if ahead else self.where
        self._rotated_at = self._clock.now()
        for name in names:
            self._remove_stale_payload(f"{self._folder}/{name}")

    def _remove_stale_payload(self, path: str) -> None:
        with contextlib.suppress(OSError):
            is_payload = not os.path.basename(path).startswith("hooks.")
            if is_payload and self._clock.now() - os.lstat(path).st_mtime_ns > _MAX_PAYLOAD_AGE_NS:
                os.remove(path)

    def _read_current(self, result: SourceScanResult, descriptor: int) -> None:
        is_written = (
            _has_writer(descriptor) if self._is_reading_rotated else True
        )  # asked before what may be the last read
        found = self._read_lines(result, self._tail, descriptor)
        for line in found:
            self._add_record(result, line, SpoolPosition(self._current_life, line.end_offset))
        if found or self._tail.has_unread_data:
            result.rescan_after_s = (
                0.0
                if self._tail.has_unread_data or self._is_reading_rotated or self._tail.offset >= MAX_SPOOL_BYTES
                else None
            )
        elif self._is_reading_rotated:
            self._finish_rotated(result, is_written)
        elif self._tail.offset >= MAX_SPOOL_BYTES and not self._tail.has_partial_line:
            self._rotate(result)
        if self._late_tails and result.rescan_after_s is None:
            result.rescan_after_s = 1.0

    def _rotate(self, result: SourceScanResult) -> None:
        old = self._build_rotated_path(self._current_life)
        os.rename(self.where, old)
        _create_spool(self.where)
        self._base_life, self._tail.life, self._current_path = self._current_life, 0, old
        self._rotated_at = self._clock.now()
        result.rescan_after_s = 0.0

    def _finish_rotated(self, result: SourceScanResult, has_writer: bool | None) -> None:
        """Go on with the new spool, once nobody can append to this one or we waited long enough."""
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
        """What comes late is told with the mark at which we are, so that marks never go back."""
        try:
            with _open_private(path) as descriptor:
                is_written = _has_writer(descriptor)
                found = self._read_lines(result, self._late_tails[path], descriptor)
        except (OSError, Unavailable):
            is_written, found = False, []
        for line in found:
            self._add_record(result, line, SpoolPosition(self._current_life, self._tail.offset))
        is_over = self._clock.now() - self._rotated_at > _MAX_LATE_READ_NS
        if not found and (is_written is False or (is_written is None and is_over)):
            del self._late_tails[path]
            self._files_to_remove.append(path)

    def _read_lines(self, result: SourceScanResult, tail: FileTail, descriptor: int) -> list[TailLine]:
        before = tail.dropped
        found = tail.read_lines(descriptor)
        result.dropped += tail.dropped - before
        return found

    def _add_record(self, result: SourceScanResult, line: TailLine, position: SpoolPosition) -> None:
        hook = parse_hook_record(line.data)
        if hook is None:
            result.dropped += 1
            result.detail = "there are lines in it that no hook of ours wrote"
            return
        record = SourceRecord(
            source=HOOK_SOURCE,
            text=self._read_record_text(result, line.data, hook) if hook.file else line.data.decode("utf-8", "replace"),
            at=self._clock.now(),
            path=self.where,
            hint=hook.hint,
            event_id=f"{position.life}@{line.end_offset}",
            seq=position.offset,
            life=position.life,
        )
        result.records.append(record)

    def _read_record_text(self, result: SourceScanResult, data: bytes, hook_record: HookRecord) -> str:
        """An event without its payload is worth more than none."""
        name = find_payload_name(self._folder, hook_record.file)
        path = f"{self._folder}/{name}"
        self._files_to_remove += [path] if name else []
        try:
            if not name:
                raise OSError(f"{hook_record.event} names a payload that is not beside the spool")
            return embed_payload(data, path)
        except (OSError, ValueError) as error:
            result.dropped += 1
            result.detail = f"a payload is missing: {error}"
            return embed_empty_payload(data)


def _create_spool(path: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


@contextlib.contextmanager
def _open_private(path: str) -> Iterator[int]:
    """To read a file of our own; nobody else may read it from now on. A link, or somebody else's, is refused."""
    try:
        descriptor = open_for_reading(path, follow_links=False)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unavailable(f"{path} is a link, so it is not read", hint="Remove the link.") from error
        raise
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid():
            raise Unavailable(f"{path} belongs to somebody else, so it is not read", hint="Remove it.")
        if found.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
        yield descriptor
    finally:
        os.close(descriptor)


def _has_writer(descriptor: int) -> bool | None:
    """Whether anybody has it open to write; None where the kernel does not tell.

    A read lease is granted only on a file that nobody can write to.
    """
    if sys.platform != "linux":
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False
