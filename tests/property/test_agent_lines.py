"""Laws of what agents leave on disk: however it is appended, cut and rotated, every complete line is told once."""

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
        st.tuples(st.just("line"), TEXT),
        st.tuples(st.just("part"), TEXT),
        st.tuples(st.sampled_from(["look", "glance", "cut", "replace", "rotate", "rename"]), st.just("")),
    ),
    max_size=40,
)


@contextlib.contextmanager
def narrow() -> Iterator[str]:
    """A folder of its own, and pieces so small that every border is met."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(tail, "READ_CHUNK_BYTES", 16),
        patch.object(appended_lines, "READ_CHUNK_BYTES", 16),
    ):
        yield os.path.realpath(folder)


class Log:
    """A writer and a reader of the same log. Every line is numbered, so that none is like another."""

    def __init__(self, folder: str):
        self.folder, self.path = folder, f"{folder}/a.jsonl"
        watch = WatchedPath(source="transcript", kind="lines", folder=folder, pattern="*.jsonl", from_start=True)
        self.reader = AppendedLinesReader(watch, SystemClock())
        self.numbers = count()
        self.written: list[str] = []
        self.partial = ""
        self.told: list[str] = []
        self.look()

    def append(self, text: str) -> None:
        """A file is seen once before it is renamed: of one that never was, nobody knows that it fitted."""
        is_new = not os.path.exists(self.path)
        with open(self.path, "a", newline="") as file:
            file.write(text)
        {True: self.glance, False: str}[is_new]()

    def line(self, text: str) -> None:
        whole = f"{next(self.numbers)}:{text}"
        self.append(f"{whole}\n")
        self.written.append(self.partial + whole)
        self.partial = ""

    def part(self, text: str) -> None:
        piece = f"{next(self.numbers)}:{text}"
        self.append(piece)
        self.partial += piece

    def glance(self, _: str = "") -> None:
        """One look at what the kernel named, whatever it finds."""
        self.told += [record.text for record in self.reader.scan([self.path]).records]

    def look(self, _: str = "") -> None:
        look = self.reader.scan(None)
        self.told += [record.text for record in look.records]
        while look.rescan_after_s is not None:
            look = self.reader.scan(set())
            self.told += [record.text for record in look.records]

    def cut(self, _: str) -> None:
        """Only what was read may be cut off: nobody can read the rest."""
        self.append("")
        self.look()
        open(self.path, "w").close()
        self.partial = ""

    def replace(self, _: str) -> None:
        self.look()
        open(f"{self.folder}/fresh", "w").close()
        os.replace(f"{self.folder}/fresh", self.path)
        self.partial = ""
        self.glance()

    def rotate(self, _: str) -> None:
        self._move(f"old.{next(self.numbers)}")

    def rename(self, _: str) -> None:
        self._move(f"old.{next(self.numbers)}.jsonl")

    def _move(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path, f"{self.folder}/{name}")
        self.partial = ""


@given(STEPS)
def test_every_complete_line_is_told_exactly_once(steps):
    with narrow() as folder:
        log = Log(folder)
        for name, text in steps:
            getattr(log, name)(text)
        log.look()
        assert sorted(log.told) == sorted(log.written)


class Hooks:
    """Hooks that append, and daemons that read, are killed before or after they stored, and start again."""

    def __init__(self, folder: str):
        self.folder = f"{folder}/spool"
        self.mark = SpoolPosition()
        self.written = 0
        self.stored: list[str] = []
        self.start()

    def start(self) -> None:
        self.spool = HookSpool(self.folder, self.mark, SystemClock())
        self.look()

    def append(self) -> None:
        with open(f"{self.folder}/hooks.jsonl", "a") as file:
            file.write(f'{{"v":1,"agent":"codex","event":"{self.written}"}}\n')
        self.written += 1

    def look(self) -> float | None:
        look = self.spool.scan(None)
        for record in look.records:
            self.stored.append(record.text.split('"')[9])
            self.mark = SpoolPosition(record.life, record.seq)
        self.spool.confirm_stored()
        return look.rescan_after_s

    def lose(self) -> None:
        """Killed after reading, before storing."""
        self.spool.scan(None)
        self.start()

    def die(self) -> None:
        """Killed after storing, before the spool was told."""
        look = self.spool.scan(None)
        self.stored += [record.text.split('"')[9] for record in look.records]
        self.mark = max([self.mark, *(SpoolPosition(record.life, record.seq) for record in look.records)])
        self.start()


@given(st.lists(st.sampled_from(["append", "append", "append", "look", "lose", "die", "start"]), max_size=60))
def test_every_hook_is_stored_exactly_once_and_in_order_whoever_is_killed_and_whenever_it_is_rotated(steps):
    with (
        narrow() as folder,
        patch.object(hook_spool, "MAX_SPOOL_BYTES", 100),
        patch.object(tail, "READ_CHUNK_BYTES", 64),
    ):
        hooks = Hooks(folder)
        for name in steps:
            getattr(hooks, name)()
        while hooks.look() is not None:
            pass
        assert hooks.stored == [str(number) for number in range(hooks.written)]
        assert len(os.listdir(hooks.folder)) <= 2
