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

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.sources.file_scan import opened
from termvisor.agents.sources.hook_record import HookLine, beside, understood, with_payload, without_payload
from termvisor.agents.sources.reader import SOON, Look
from termvisor.agents.sources.tail import Line, Tail
from termvisor.clock import NS, Clock
from termvisor.errors import Unavailable
from termvisor.settings import make_private

SOURCE = "hook"
SPOOL = "hooks.jsonl"
FULL = 8 << 20
_PATIENCE = 5 * NS
"""How long the new spool waits for a hook that has the old one open."""
_LATEST = 60 * NS
"""How long an old spool is read where the kernel does not tell who has it open."""
_FORGOTTEN = 86_400 * NS
"""A payload of that age that is still there was left by a hook that was killed."""
_OLD = re.compile(r"hooks\.(\d+)\.jsonl")


class Mark(Struct, frozen=True, order=True):
    """How far the spool is read: `life` and `seq` of the last record that is stored."""

    life: int = 0
    offset: int = 0


class Spool:
    """``folder`` is private; it and the spool in it are made when they are missing."""

    source = SOURCE

    def __init__(self, folder: str, mark: Mark, clock: Clock):
        self.where = f"{folder}/{SPOOL}"
        self._folder, self._clock = folder, clock
        self._path, self._base, self._tail = "", mark.life, Tail(mark.offset)
        self._renamed_at = 0
        self._late: dict[str, Tail] = {}
        """Old spools that somebody still has open though we went on."""
        self._read_out: list[str] = []
        """Old spools that go when a record behind them is stored."""
        self._done: list[str] = []
        """Files that go when the records of this look are stored."""

    def concerns(self, path: str) -> bool:
        """Payloads come before the line that names them."""
        return os.path.basename(path).startswith("hooks.")

    def look(self, paths: Collection[str] | None) -> Look:
        make_private(self._folder)
        if not self._path:
            self._begin()
        if not self._is_old:
            _make_spool(self.where)
        look = Look(records=[], folders=[self._folder])
        for path in list(self._late):
            self._read_late(look, path)
        with _private(self._path) as descriptor:
            self._read(look, descriptor)
        if look.records and not self._is_old:
            self._done, self._read_out = self._done + self._read_out, []
        return look

    def delivered(self) -> None:
        for path in self._done:
            with contextlib.suppress(OSError):
                os.remove(path)
        self._done = []

    @property
    def _life(self) -> int:
        return self._base + self._tail.life

    @property
    def _is_old(self) -> bool:
        return self._path != self.where

    def _old(self, life: int) -> str:
        return f"{self._folder}/hooks.{life}.jsonl"

    def _begin(self) -> None:
        """Where an earlier reader stopped: in a spool that was renamed since, or in the one that is being written."""
        names = os.listdir(self._folder)
        lives = sorted(int(found[1]) for name in names if (found := _OLD.fullmatch(name)))
        self._done += [self._old(life) for life in lives if life < self._base]
        ahead = [life for life in lives if life >= self._base]
        if ahead and ahead[0] > self._base:
            self._base, self._tail = ahead[0], Tail()
        self._path = self._old(self._base) if ahead else self.where
        self._renamed_at = self._clock.now()
        for name in names:
            self._sweep(f"{self._folder}/{name}")

    def _sweep(self, path: str) -> None:
        with contextlib.suppress(OSError):
            is_payload = not os.path.basename(path).startswith("hooks.")
            if is_payload and self._clock.now() - os.lstat(path).st_mtime_ns > _FORGOTTEN:
                os.remove(path)

    def _read(self, look: Look, descriptor: int) -> None:
        is_written = _is_written(descriptor) if self._is_old else True  # asked before what may be the last read
        found = self._lines(look, self._tail, descriptor)
        for line in found:
            self._take(look, line, Mark(self._life, line.end))
        if found or self._tail.has_more:
            look.again_in = 0.0 if self._tail.has_more or self._is_old or self._tail.offset >= FULL else None
        elif self._is_old:
            self._leave_old(look, is_written)
        elif self._tail.offset >= FULL and not self._tail.is_torn:
            self._rotate(look)
        if self._late and look.again_in is None:
            look.again_in = 1.0

    def _rotate(self, look: Look) -> None:
        old = self._old(self._life)
        os.rename(self.where, old)
        _make_spool(self.where)
        self._base, self._tail.life, self._path = self._life, 0, old
        self._renamed_at = self._clock.now()
        look.again_in = 0.0

    def _leave_old(self, look: Look, is_written: bool | None) -> None:
        """Go on with the new spool, once nobody can append to this one or we waited long enough."""
        if is_written is not False and self._clock.now() - self._renamed_at < _PATIENCE:
            look.again_in = SOON
            return
        if is_written is not False:
            self._late[self._path] = self._tail
        else:
            self._read_out.append(self._path)
        self._base, self._tail, self._path = self._life + 1, Tail(), self.where
        look.again_in = 0.0

    def _read_late(self, look: Look, path: str) -> None:
        """What comes late is told with the mark at which we are, so that marks never go back."""
        try:
            with _private(path) as descriptor:
                is_written = _is_written(descriptor)
                found = self._lines(look, self._late[path], descriptor)
        except (OSError, Unavailable):
            is_written, found = False, []
        for line in found:
            self._take(look, line, Mark(self._life, self._tail.offset))
        is_over = self._clock.now() - self._renamed_at > _LATEST
        if not found and (is_written is False or (is_written is None and is_over)):
            del self._late[path]
            self._done.append(path)

    def _lines(self, look: Look, tail: Tail, descriptor: int) -> list[Line]:
        before = tail.dropped
        found = tail.read(descriptor)
        look.dropped += tail.dropped - before
        return found

    def _take(self, look: Look, line: Line, mark: Mark) -> None:
        hook = understood(line.data)
        if hook is None:
            look.dropped += 1
            look.detail = "there are lines in it that no hook of ours wrote"
            return
        record = Record(
            source=SOURCE,
            text=self._text(look, line.data, hook) if hook.file else line.data.decode("utf-8", "replace"),
            at=self._clock.now(),
            path=self.where,
            hint=hook.hint,
            event_id=f"{mark.life}@{line.end}",
            seq=mark.offset,
            life=mark.life,
        )
        look.records.append(record)

    def _text(self, look: Look, data: bytes, hook: HookLine) -> str:
        """An event without its payload is worth more than none."""
        name = beside(self._folder, hook.file)
        path = f"{self._folder}/{name}"
        self._done += [path] if name else []
        try:
            if not name:
                raise OSError(f"{hook.event} names a payload that is not beside the spool")
            return with_payload(data, path)
        except (OSError, ValueError) as error:
            look.dropped += 1
            look.detail = f"a payload is missing: {error}"
            return without_payload(data)


def _make_spool(path: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


@contextlib.contextmanager
def _private(path: str) -> Iterator[int]:
    """To read a file of our own; nobody else may read it from now on. A link, or somebody else's, is refused."""
    try:
        descriptor = opened(path, may_be_link=False)
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


def _is_written(descriptor: int) -> bool | None:
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
