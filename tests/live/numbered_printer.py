"""Programs that print known bytes in panes, and readers of the raw log to compare."""

import hashlib
import os
import sys
from pathlib import Path

_PROGRAM = """
import os, sys, hashlib, tty, time
megabytes, name, folder = float(sys.argv[1]), sys.argv[2], sys.argv[3]
tty.setraw(1)
while not os.path.exists(folder + "/go"): time.sleep(0.02)
total, number, digest = 0, 0, hashlib.sha256()
os.write(1, b"<<<start>>>\\r\\n")
while total < megabytes * 1e6:
    lines = []
    for _ in range(400):
        number += 1
        lines.append(b"%s line %08d the quick brown fox jumps over the lazy dog\\r\\n" % (name.encode(), number))
    data = b"".join(lines)
    digest.update(data)
    total += len(data)
    while data: data = data[os.write(1, data):]
open(f"{folder}/{name}.tmp", "w").write(f"{total} {number} {digest.hexdigest()}")
os.rename(f"{folder}/{name}.tmp", f"{folder}/{name}.done")
time.sleep(1000)
"""


class NumberedPrinter:
    """A program that prints numbered lines after `release`."""

    def __init__(self, folder: str, name: str, megabytes: float):
        self._folder, self.name = Path(folder), name
        self._megabytes = megabytes

    @property
    def command(self) -> str:
        script = self._folder / "printer.py"
        if not script.exists():  # another printer may be reading it
            script.write_text(_PROGRAM)
        return f"exec {sys.executable} -S {script} {self._megabytes} {self.name} {self._folder}"

    def release(self) -> None:
        (self._folder / "go").touch()

    @property
    def is_done(self) -> bool:
        return (self._folder / f"{self.name}.done").exists()

    @property
    def printed(self) -> tuple[int, int, str]:
        """Bytes, lines and sha256 of the output after the start marker."""
        total, number, digest = (self._folder / f"{self.name}.done").read_text().split()
        return int(total), int(number), digest


def read_raw_log(raw_dir: str, pane: int) -> bytes:
    """Return all raw bytes of a pane, in epoch order."""
    epochs = sorted(Path(raw_dir, str(pane)).iterdir(), key=lambda path: int(path.name))
    return b"".join(part.read_bytes() for epoch in epochs for part in sorted(epoch.glob("*.raw")))


def count_recorded_bytes(raw_dir: str) -> int:
    """Return the number of raw bytes of all panes."""
    return sum(part.stat().st_size for part in Path(raw_dir).rglob("*.raw"))


def hash_after_start(data: bytes) -> tuple[int, str]:
    """Return size and sha256 of the data after the start marker."""
    _, _, rest = data.partition(b"<<<start>>>\r\n")
    return len(rest), hashlib.sha256(rest).hexdigest()


def count_timed_bytes(raw_dir: str, pane: int) -> int:
    """Return how many bytes have a time in the index."""
    total = 0
    for epoch in Path(raw_dir, str(pane)).iterdir():
        records = b"".join(part.read_bytes() for part in sorted(epoch.glob("*.idx")))
        ends = [int.from_bytes(records[at : at + 8], "little") & ((1 << 56) - 1) for at in range(0, len(records), 16)]
        times = [int.from_bytes(records[at + 8 : at + 16], "little") for at in range(0, len(records), 16)]
        assert times == sorted(times)
        assert all(time > 1_600_000_000 * 10**9 for time in times)
        total += max(ends, default=0)
    return total


def read_resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
