"""The watch kind ``files``: when a file that fits changes, its whole text is a record; when it is gone, an empty one.

A file is read once it is whole: JSON when it can be parsed, anything else when it has not changed between two looks.
What is there at the first look is told as well: it is what the agent says now.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Collection

import msgspec

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.agents.sources.file_scan import Print, Survey, opened, pattern, print_of
from termvisor.agents.sources.reader import SOON, Look
from termvisor.clock import NS, Clock

LARGEST = 1 << 20
_TRIES = 7
"""Looks at a file that is not whole; each waits twice as long as the one before, two and a half seconds in all."""


class FilesReader:
    def __init__(self, watch: Watch, clock: Clock):
        self.source, self.where = watch.source, f"{watch.folder}/{watch.pattern}"
        self._watch, self._clock = watch, clock
        self._fits = pattern(watch.pattern)
        self._is_json = watch.pattern.endswith(".json")
        self._settled: dict[str, Print] = {}
        """Files whose text was told, or given up, and that have been at rest since."""
        self._told: dict[str, str] = {}
        """What was told of each file, as the id of its record."""
        self._unripe: dict[str, tuple[Print, int]] = {}
        """Files that were not whole: as they were seen, and how often."""

    def concerns(self, path: str) -> bool:
        return self._fits.fullmatch(os.path.basename(path)) is not None

    def look(self, paths: Collection[str] | None) -> Look:
        if paths is None:
            survey = Survey().take(self._watch)
            detail = "some folders are not watched: too many" if survey.is_cut else ""
            look = Look(records=[], folders=survey.folders, awaited=survey.awaited, detail=detail)
            gone, files = (self._told | self._settled | self._unripe).keys() - survey.files.keys(), survey.files
        else:
            fitting = set(filter(self.concerns, paths)) | self._unripe.keys()
            found = {path: print_of(path) for path in fitting}
            look = Look(records=[], is_whole=False)
            gone = {path for path, one in found.items() if one is None}
            files = {path: one for path, one in found.items() if one is not None}
        self._take(look, files)
        self._miss(look, gone)
        look.again_in = min((SOON * 2**tries for _, tries in self._unripe.values()), default=None)
        return look

    def delivered(self) -> None:
        """Nothing is kept for it."""

    def _miss(self, look: Look, gone: Collection[str]) -> None:
        for path in sorted(gone):
            self._settled.pop(path, None)
            self._unripe.pop(path, None)
            if was := self._told.pop(path, ""):
                look.records.append(self._record(path, "", f"{was}-gone"))

    def _take(self, look: Look, files: dict[str, Print]) -> None:
        changed = [(path, found) for path, found in files.items() if self._settled.get(path) != found]
        for path, found in sorted(changed, key=lambda each: each[1].changed_at):
            try:
                self._take_one(look, path, found)
            except OSError as error:
                look.detail = f"cannot read {path}: {error.strerror or error}"

    def _take_one(self, look: Look, path: str, found: Print) -> None:
        data = None if found.size > LARGEST else _read(path)
        if data is None or len(data) > LARGEST:
            self._give_up(look, path, found, f"{path} is longer than {LARGEST:,} bytes")
        elif self._is_ripe(path, found, data):
            self._tell(look, path, found, data)
        else:
            self._wait(look, path, found)

    def _is_ripe(self, path: str, found: Print, data: bytes) -> bool:
        if self._is_json:
            return _is_whole(data)
        was, tries = self._unripe.get(path, (None, 0))
        return was == found or tries >= _TRIES or self._clock.now() - found.changed_at > NS

    def _wait(self, look: Look, path: str, found: Print) -> None:
        _, tries = self._unripe.get(path, (None, -1))
        self._unripe[path] = (found, tries + 1)
        if tries >= _TRIES:
            self._give_up(look, path, found, f"{path} is no JSON")

    def _give_up(self, look: Look, path: str, found: Print, why: str) -> None:
        look.dropped += 1
        look.detail = why
        self._unripe.pop(path, None)
        self._settled[path] = found

    def _tell(self, look: Look, path: str, found: Print, data: bytes) -> None:
        self._unripe.pop(path, None)
        if self._clock.now() - found.changed_at > NS:
            self._settled[path] = found
        else:
            self._settled.pop(path, None)  # it may change once more without its time showing it
        name = blake2b(os.fsencode(path) + data, digest_size=8).hexdigest()
        if self._told.get(path, "").partition("@")[0] != name:
            self._told[path] = f"{name}@{found.changed_at}"
            look.records.append(self._record(path, data.decode("utf-8", "replace"), self._told[path]))

    def _record(self, path: str, text: str, event_id: str) -> Record:
        watch = self._watch
        now = self._clock.now()
        return Record(source=watch.source, text=text, at=now, path=path, hint=watch.hint, event_id=event_id)


def _read(path: str) -> bytes:
    descriptor = opened(path)
    try:
        pieces = [os.read(descriptor, LARGEST + 1)]
        while pieces[-1] and sum(map(len, pieces)) <= LARGEST:
            pieces.append(os.read(descriptor, LARGEST + 1))
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _is_whole(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
