"""Keep the decoder state of open epochs in private files, so that a restarted daemon continues where it stopped.

A snapshot contains the rows of a pane's screen, unredacted like the raw log; therefore it is a file beside that log
and not in the database. Its name contains the offset at which it was taken. The database names the same offset, and a
new snapshot is written before that offset is committed, so a daemon killed in between finds the old one.
"""

import os
from contextlib import suppress

from termvisor.model.ids import EpochId

_FOLDER = "windows"
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600


class WindowFiles:
    def __init__(self, raw_dir: str):
        self._folder = f"{raw_dir}/{_FOLDER}"
        self._offsets: dict[EpochId, list[int]] = {}
        """The offsets of the snapshots of each open epoch; all but the last one may be deleted after a commit."""

    def save(self, epoch: EpochId, offset: int, snapshot: bytes) -> bool:
        """Write a snapshot; return False if that failed, in which case decoding resumes at an earlier one."""
        try:
            descriptor = self._create(self._build_path(epoch, offset))
            try:
                is_written = os.write(descriptor, snapshot) == len(snapshot)
            finally:
                os.close(descriptor)
        except OSError:
            # Usually a full disk, which the recorder and the store report.
            is_written = False
        if is_written:
            self._offsets.setdefault(epoch, []).append(offset)
        else:
            self._delete(epoch, offset)
        return is_written

    def _create(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(path, flags, _PRIVATE_FILE)
        except FileNotFoundError:
            # Only the first file needs the folder.
            os.makedirs(self._folder, _PRIVATE_FOLDER, exist_ok=True)
            return os.open(path, flags, _PRIVATE_FILE)

    def load(self, epoch: EpochId, offset: int) -> bytes | None:
        try:
            with open(self._build_path(epoch, offset), "rb") as file:
                snapshot = file.read()
        except OSError:
            # Never written (an epoch that begins, or one of an older version), or lost with the power.
            return None
        self._offsets[epoch] = [offset]
        return snapshot

    def delete_older(self, epoch: EpochId) -> None:
        """Delete all snapshots of an epoch but the last one."""
        offsets = self._offsets.get(epoch, [])
        while len(offsets) > 1:
            self._delete(epoch, offsets.pop(0))

    def delete_all(self, epoch: EpochId) -> None:
        """Delete the snapshots of an epoch that was closed."""
        for offset in self._offsets.pop(epoch, []):
            self._delete(epoch, offset)

    def delete_strays(self, epochs: frozenset[EpochId]) -> None:
        """Delete the snapshots of all epochs but these, which an earlier daemon may have left."""
        with suppress(FileNotFoundError):
            for name in os.listdir(self._folder):
                epoch, _, offset = name.partition("-")
                if epoch.isdigit() and offset.isdigit() and EpochId(int(epoch)) not in epochs:
                    self._delete(EpochId(int(epoch)), int(offset))

    def _delete(self, epoch: EpochId, offset: int) -> None:
        with suppress(OSError):
            os.unlink(self._build_path(epoch, offset))

    def _build_path(self, epoch: EpochId, offset: int) -> str:
        return f"{self._folder}/{epoch}-{offset}"
