"""The watch kind ``lines``: every line that is added to a file that fits is a record, once.

A file is known by its inode: renamed, it is followed under its new name, and what takes its place is read from the
start. Files that were there at the first look begin where an earlier daemon stopped; of an agent that none knew, at
their end, unless the watch says otherwise.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.agents.sources.file_scan import Print, Survey, opened, pattern, print_of
from termvisor.agents.sources.read_positions import Ribbon
from termvisor.agents.sources.reader import Look
from termvisor.agents.sources.tail import PIECE, Tail
from termvisor.clock import NS, Clock


class LinesReader:
    def __init__(self, watch: Watch, clock: Clock, ribbon: Ribbon | None = None):
        self.source, self.where = watch.source, f"{watch.folder}/{watch.pattern}"
        self._watch, self._clock, self._ribbon = watch, clock, ribbon
        self._fits = pattern(watch.pattern)
        self._tails: dict[int, Tail] = {}
        self._settled: dict[int, Print] = {}
        """Files that are read to their end, and have been at rest since."""
        self._renamed: set[str] = set()
        """Files that fitted once and are followed under a name that does not."""
        self._is_first = True
        self._has_more = False

    def concerns(self, path: str) -> bool:
        return self._fits.fullmatch(os.path.basename(path)) is not None or path in self._renamed

    def look(self, paths: Collection[str] | None) -> Look:
        known = None if paths is None or self._has_more else self._known(paths)
        if known is not None:
            return self._marked(self._read(Look(records=[], is_whole=False), known))
        began_at = self._clock.now()
        survey = Survey().take(self._watch)
        detail = "some folders are not watched: too many" if survey.is_cut else ""
        look = Look(records=[], folders=survey.folders, awaited=survey.awaited, detail=detail)
        self._read(look, self._sort(survey))
        if self._ribbon is not None and not self._has_more:
            self._ribbon.surveyed(began_at)
        return self._marked(look)

    def delivered(self) -> None:
        if self._ribbon is not None:
            self._ribbon.keep()

    def _marked(self, look: Look) -> Look:
        """How far we are is stored with the last of what we found."""
        if look.records and self._ribbon is not None:
            look.records[-1] = replace(look.records[-1], bookmark=self._ribbon.taken())
        return look

    def _known(self, paths: Collection[str]) -> list[tuple[str, Print]] | None:
        """These files, where each of them is known; None where it takes a whole look to tell."""
        found = [(path, print_of(path)) for path in paths]
        files = [(path, one) for path, one in found if one and one.inode in self._tails]
        strange = {path for path, one in found if not one or one.inode not in self._tails}
        return None if any(map(self.concerns, strange)) else files

    def _sort(self, survey: Survey) -> list[tuple[str, Print]]:
        """Takes up new files, forgets those that are gone; those to be read."""
        files = dict(survey.files)
        unseen = self._tails.keys() - {one.inode for one in files.values()}
        self._renamed = {survey.others[inode] for inode in unseen & survey.others.keys()}
        files |= {path: found for path in self._renamed if (found := print_of(path))}
        present = {one.inode: one for one in files.values()}
        self._tails = {inode: self._tails.get(inode) or self._new(one) for inode, one in present.items()}
        self._settled = {inode: one for inode, one in self._settled.items() if inode in present}
        self._is_first = False
        return [(path, one) for path, one in files.items() if self._settled.get(one.inode) != one]

    def _new(self, found: Print) -> Tail:
        if not self._is_first:
            return Tail()
        if self._ribbon is not None and self._ribbon.is_resumed:
            return self._ribbon.begin(found, from_start=self._watch.from_start)
        return Tail(0 if self._watch.from_start else found.size)

    def _read(self, look: Look, files: Iterable[tuple[str, Print]]) -> Look:
        """Oldest change first; some of each, so that a long one does not hold up the others."""
        budget = 4 * PIECE
        self._has_more = False
        for path, found in sorted(files, key=lambda each: each[1].changed_at):
            if budget > 0:
                budget -= self._read_file(look, path, found)
            else:
                self._has_more = True
        look.again_in = 0.0 if self._has_more else None
        return look

    def _read_file(self, look: Look, path: str, found: Print) -> int:
        tail = self._tails[found.inode]
        dropped = tail.dropped
        try:
            descriptor = opened(path)
        except OSError as error:
            look.detail = f"cannot read {path}: {error.strerror or error}"
            return 0
        try:
            lines = tail.read(descriptor)
            if self._ribbon is not None:
                self._ribbon.move(found.inode, tail, descriptor)
        finally:
            os.close(descriptor)
        look.records += [self._record(path, line.data, line.end) for line in lines]
        look.dropped += tail.dropped - dropped
        self._settle(tail, found)
        return sum(len(line.data) for line in lines)

    def _settle(self, tail: Tail, found: Print) -> None:
        """A file that changed just now may change once more without its time showing it."""
        self._has_more = self._has_more or tail.has_more
        if tail.has_more or self._clock.now() - found.changed_at < NS:
            self._settled.pop(found.inode, None)
        else:
            self._settled[found.inode] = found

    def _record(self, path: str, data: bytes, end: int) -> Record:
        return Record(
            source=self._watch.source,
            text=data.decode("utf-8", "replace").removesuffix("\r"),
            at=self._clock.now(),
            path=path,
            hint=self._watch.hint,
            event_id=f"{blake2b(os.fsencode(path) + data, digest_size=8).hexdigest()}@{end}",
        )
