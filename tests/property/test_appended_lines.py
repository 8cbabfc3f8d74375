"""Reading appended files: every complete line is read once, despite partial writes, truncation and rotation."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from itertools import count
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.adapter import WatchedPath
from termvisor.agents.sources import appended_lines, hook_spool, tail
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.clock import SystemClock

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append_line"), TEXT),
        st.tuples(st.just("append_part"), TEXT),
        st.tuples(st.sampled_from(["scan_all", "scan_path", "truncate", "replace", "rotate", "rename"]), st.just("")),
    ),
    max_size=40,
)


@contextlib.contextmanager
def small_read_chunks() -> Iterator[str]:
    """Yield a temporary folder, with read chunks so small that examples cross their boundaries."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(tail, "READ_CHUNK_BYTES", 16),
        patch.object(appended_lines, "READ_CHUNK_BYTES", 16),
    ):
        yield os.path.realpath(folder)


class WatchedLog:
    """A writer and a reader of the same log. Every line is numbered, so that all differ."""

    def __init__(self, folder: str):
        self.folder, self.path = folder, f"{folder}/a.jsonl"
        watch = WatchedPath(source="transcript", kind="lines", folder=folder, pattern="*.jsonl", from_start=True)
        self.reader = AppendedLinesReader(watch, SystemClock())
        self.numbers = count()
        self.written: list[str] = []
        self.partial = ""
        self.read_lines: list[str] = []
        self.scan_all()

    def append(self, text: str) -> None:
        """Append text and scan a new file at once: renamed before a scan, it would never match the pattern."""
        is_new = not os.path.exists(self.path)
        with open(self.path, "a", newline="") as file:
            file.write(text)
        {True: self.scan_path, False: str}[is_new]()

    def append_line(self, text: str) -> None:
        whole = f"{next(self.numbers)}:{text}"
        self.append(f"{whole}\n")
        self.written.append(self.partial + whole)
        self.partial = ""

    def append_part(self, text: str) -> None:
        text_part = f"{next(self.numbers)}:{text}"
        self.append(text_part)
        self.partial += text_part

    def scan_path(self, _: str = "") -> None:
        """Scan once, only the path that inotify would report."""
        self.read_lines += [record.text for record in self.reader.scan([self.path]).records]

    def scan_all(self, _: str = "") -> None:
        result = self.reader.scan(None)
        self.read_lines += [record.text for record in result.records]
        while result.rescan_after_s is not None:
            result = self.reader.scan(set())
            self.read_lines += [record.text for record in result.records]

    def truncate(self, _: str) -> None:
        """Truncate the file after reading it: unread lines would be lost."""
        self.append("")
        self.scan_all()
        open(self.path, "w").close()
        self.partial = ""

    def replace(self, _: str) -> None:
        self.scan_all()
        open(f"{self.folder}/fresh", "w").close()
        os.replace(f"{self.folder}/fresh", self.path)
        self.partial = ""
        self.scan_path()

    def rotate(self, _: str) -> None:
        self._move(f"old.{next(self.numbers)}")

    def rename(self, _: str) -> None:
        self._move(f"old.{next(self.numbers)}.jsonl")

    def _move(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path, f"{self.folder}/{name}")
        self.partial = ""


@given(STEPS)
def test_every_complete_line_is_read_exactly_once(steps):
    with small_read_chunks() as folder:
        log = WatchedLog(folder)
        for name, text in steps:
            getattr(log, name)(text)
        log.scan_all()
        assert sorted(log.read_lines) == sorted(log.written)


class SpoolScene:
    """A hook spool that hooks append to, read by a daemon that is killed before or after storing."""

    def __init__(self, folder: str):
        self.folder = f"{folder}/spool"
        self.position = SpoolPosition()
        self.written = 0
        self.stored: list[str] = []
        self.start()

    def start(self) -> None:
        self.spool = HookSpool(self.folder, self.position, SystemClock())
        self.scan_all()

    def append(self) -> None:
        with open(f"{self.folder}/hooks.jsonl", "a") as file:
            file.write(f'{{"v":1,"agent":"codex","event":"{self.written}"}}\n')
        self.written += 1

    def scan_all(self) -> float | None:
        result = self.spool.scan(None)
        for record in result.records:
            self.stored.append(record.text.split('"')[9])
            self.position = SpoolPosition(record.life, record.seq)
        self.spool.confirm_stored()
        return result.rescan_after_s

    def kill_before_storing(self) -> None:
        """Kill the daemon after reading and before storing."""
        self.spool.scan(None)
        self.start()

    def kill_before_confirming(self) -> None:
        """Kill the daemon after storing and before confirming to the spool."""
        result = self.spool.scan(None)
        self.stored += [record.text.split('"')[9] for record in result.records]
        self.position = max([self.position, *(SpoolPosition(record.life, record.seq) for record in result.records)])
        self.start()


@given(
    st.lists(
        st.sampled_from(
            ["append", "append", "append", "scan_all", "kill_before_storing", "kill_before_confirming", "start"]
        ),
        max_size=60,
    )
)
def test_every_hook_event_is_stored_once_and_in_order_despite_kills_and_rotation(steps):
    with (
        small_read_chunks() as folder,
        patch.object(hook_spool, "MAX_SPOOL_BYTES", 100),
        patch.object(tail, "READ_CHUNK_BYTES", 64),
    ):
        scene = SpoolScene(folder)
        for name in steps:
            getattr(scene, name)()
        while scene.scan_all() is not None:
            pass
        assert scene.stored == [str(number) for number in range(scene.written)]
        assert len(os.listdir(scene.folder)) <= 2
