import os
from contextlib import closing

import pytest

from termvisor.jobs import wrapper
from termvisor.jobs.job_folder import JobFolder
from termvisor.jobs.output import JobOutput
from termvisor.model.ids import JobId, PaneId
from termvisor.model.job import Job, JobSpec
from termvisor.recorder.segment import list_segment_starts
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.testing.fake_services import FakeServices, build_shell_facts


class Terminal:
    """The raw log of a job's pane."""

    def __init__(self, tmp_path):
        self.services = FakeServices()
        self.store, self.raw = self.services.store, str(tmp_path / "raw")
        self.pane = self.services.add_pane(build_shell_facts("%1")).id
        self.folder = JobFolder(str(tmp_path / "jobs"), JobId(1))
        self.folder.prepare(JobSpec(argv=("true",)), 2.0)
        self.output = JobOutput(self.store, self.raw, lambda _job: self.folder)
        self.epoch = 1

    def print(self, data: bytes, segment_bytes: int = 1 << 20, at: int = 0) -> None:
        with closing(SegmentWriter(self.epoch_folder, segment_bytes, at)) as log:
            for start in range(0, len(data), segment_bytes):
                log.append(data[start : start + segment_bytes], 1)

    async def lose_recorder(self, size: int) -> None:
        """End the epoch and begin another one."""
        await self.store.output.close_epoch(self.epoch, "recorder_restart", 1, size)
        self.epoch = await self.store.output.open_epoch(self.pane, "pipe", 2)

    @property
    def epoch_folder(self) -> str:
        return f"{self.raw}/{self.pane}/{self.epoch}"

    @property
    def mark(self) -> bytes:
        return wrapper.format_end_mark(self.folder._read_key(), "1", 0, 0)

    def build_job(self, **fields) -> Job:
        return Job(id=JobId(1), name="", command="", place="tmux", pane=PaneId(self.pane), **fields)


@pytest.fixture
def terminal(tmp_path) -> Terminal:
    return Terminal(tmp_path)


async def test_a_cursor_continues_where_the_last_read_ended(terminal) -> None:
    terminal.print(b"0123456789")
    first = await terminal.output.read(terminal.build_job(), 0, 4)
    rest = await terminal.output.read(terminal.build_job(), first.cursor, 100)
    assert (first.data, first.has_more, rest.data, rest.has_more) == (b"0123", True, b"456789", False)


async def test_the_output_ends_at_the_mark(terminal) -> None:
    terminal.print(b"output" + terminal.mark + b"$ ")
    found = await terminal.output.find_end(terminal.build_job(), 0)
    assert found.offset == 6
    read = await terminal.output.read(terminal.build_job(state="finished", end_offset=6), 0, 100)
    assert (read.data, read.is_over, read.is_incomplete) == (b"output", True, False)


@pytest.mark.parametrize("length", [1, 5, 14, 20, 45])
async def test_a_mark_that_is_being_written_is_no_output(terminal, length) -> None:
    terminal.print(b"output" + terminal.mark[:length])
    assert (await terminal.output.read(terminal.build_job(state="running"), 0, 100)).data == b"output"


async def test_a_forged_mark_is_output(terminal) -> None:
    forged = wrapper.format_end_mark(b"guess", "1", 0, 0)
    terminal.print(b"a" + forged + b"b" + terminal.mark)
    assert (await terminal.output.find_end(terminal.build_job(), 0)).offset == 2 + len(forged)
    assert (await terminal.output.read(terminal.build_job(state="running"), 0, 100)).data == b"a" + forged + b"b"


async def test_a_killed_recorder_does_not_move_the_cursor(terminal) -> None:
    terminal.print(b"before")
    await terminal.lose_recorder(6)
    terminal.print(b"after" + terminal.mark)
    assert (await terminal.output.find_end(terminal.build_job(), 0)).offset == 11
    assert (await terminal.output.read(terminal.build_job(), 3, 100)).data == b"oreafter"


async def test_the_mark_is_found_across_the_pieces_of_a_read(terminal) -> None:
    terminal.print(b"x" * 100 + terminal.mark, segment_bytes=7)
    found = await terminal.output.find_end(terminal.build_job(), 50)
    assert found.offset == 100


async def test_deleted_bytes_are_reported_and_skipped(terminal) -> None:
    terminal.print(b"0123456789abcdef", segment_bytes=4)
    first = list_segment_starts(terminal.epoch_folder)[0]
    os.unlink(f"{terminal.epoch_folder}/{first:016d}.raw")
    read = await terminal.output.read(terminal.build_job(state="finished", end_offset=16), 0, 100)
    assert (read.is_incomplete, read.start, read.data) == (True, 4, b"456789abcdef")


async def test_a_job_whose_log_is_gone_has_no_more_output(terminal) -> None:
    read = await terminal.output.read(terminal.build_job(state="finished", end_offset=16), 0, 100)
    assert (read.is_incomplete, read.cursor, read.is_over) == (True, 16, True)
