"""Seal segments, also when the process is killed at any step."""

import errno
import os
import shutil
import stat

import pytest

from termvisor.capture.sealing import (
    SealOptions,
    SealResult,
    delete_segment,
    remove_leftovers,
    seal_segment,
    try_seal_segment,
)
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentReader, SegmentWriter
from termvisor.redaction.raw_bytes import mask_bytes
from termvisor.settings import Paths, Settings
from termvisor.system.worker import run_worker
from tests.unit.kill_simulation import kill_at_every_step

KEY = b"sk-ant-api03-aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1"
FIRST = b"hello\r\n" * 100 + KEY + b"\r\n"
SECOND = b"world\r\n" * 100
BOTH = (SealOptions(), SealOptions(packs=False))


@pytest.fixture
def folder(tmp_path) -> str:
    path = str(tmp_path / "1")
    write_stream(path)
    return path


def write_stream(path: str, first: bytes = FIRST, second: bytes = SECOND) -> None:
    writer = SegmentWriter(path, 1)
    writer.append(first, 10)
    writer.append(second, 20)
    writer.write_end(FLAG_ENDED, 30)
    writer.close()
    for name in os.listdir(path):
        os.utime(f"{path}/{name}", ns=(40, 40))


def read_stream(path: str) -> tuple[bytes, list[int]]:
    reader = SegmentReader(path)
    pieces = list(reader.read_pieces(0, 1 << 20))
    reader.close()
    return b"".join(data for _, data, _ in pieces), [at for _, _, at in pieces]


def list_names(path: str) -> list[str]:
    return sorted(os.listdir(path))


def test_a_sealed_segment_is_packed_masked_private_and_keeps_its_times(folder):
    result = seal_segment(folder, 0, SealOptions())
    assert result.masked == 1
    assert result.freed > 0
    assert list_names(folder)[:2] == ["0000000000000000.idx", "0000000000000000.raw.zst"]
    file = os.stat(f"{folder}/0000000000000000.raw.zst")
    assert (stat.S_IMODE(file.st_mode), file.st_mtime_ns) == (0o400, 40)
    assert read_stream(folder) == (mask_bytes(FIRST) + SECOND, [10, 20])


def test_without_packing_a_segment_is_masked_in_place(folder):
    assert seal_segment(folder, 0, SealOptions(packs=False)).masked == 1
    assert list_names(folder)[1] == "0000000000000000.raw"
    assert stat.S_IMODE(os.stat(f"{folder}/0000000000000000.raw").st_mode) == 0o400
    assert read_stream(folder) == (mask_bytes(FIRST) + SECOND, [10, 20])


def test_a_segment_without_secrets_only_gets_the_masked_mode(folder):
    path = f"{folder}/{len(FIRST):016d}.raw"
    before = os.stat(path).st_ino
    assert seal_segment(folder, len(FIRST), SealOptions(packs=False)).masked == 0
    assert os.stat(path).st_ino == before
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o400


def test_without_masking_a_segment_is_unchanged_and_can_be_masked_later(folder):
    seal_segment(folder, 0, SealOptions(masks=False))
    assert stat.S_IMODE(os.stat(f"{folder}/0000000000000000.raw.zst").st_mode) == 0o600
    assert read_stream(folder)[0] == FIRST + SECOND
    assert seal_segment(folder, 0, SealOptions(packs=False)).masked == 1
    assert read_stream(folder)[0] == mask_bytes(FIRST) + SECOND


def test_a_truncated_segment_is_sealed_up_to_its_end(folder):
    os.truncate(f"{folder}/0000000000000000.raw", 50)
    os.truncate(f"{folder}/0000000000000000.idx", 7)
    seal_segment(folder, 0, SealOptions())
    assert read_stream(folder)[0] == FIRST[:50]


def test_an_open_reader_continues_during_sealing(folder):
    reader = SegmentReader(folder)
    before = list(reader.read_pieces(0, 10))
    seal_segment(folder, 0, SealOptions(masks=False))
    assert list(reader.read_pieces(0, 10)) == before
    reader.close()
    assert list(reader.read_pieces(0, 10)) == before
    reader.close()


@pytest.mark.parametrize("options", BOTH)
def test_sealing_killed_at_any_step_keeps_the_stream_complete(tmp_path, options):
    path = str(tmp_path / "1")

    def prepare():
        shutil.rmtree(path, ignore_errors=True)
        write_stream(path)

    def check():
        data, times = read_stream(path)
        assert data in (FIRST + SECOND, mask_bytes(FIRST) + SECOND)
        assert times == [10, 20]
        remove_leftovers(path)
        assert not [name for name in list_names(path) if name.endswith(".tmp")]
        seal_segment(path, 0, options)
        assert read_stream(path) == (mask_bytes(FIRST) + SECOND, [10, 20])
        assert len(list_names(path)) == 4

    assert kill_at_every_step(lambda: seal_segment(path, 0, options), prepare, check) >= 6


def test_a_deletion_killed_at_any_step_keeps_the_rest_of_the_stream(tmp_path):
    path = str(tmp_path / "1")

    def prepare():
        shutil.rmtree(path, ignore_errors=True)
        write_stream(path)
        seal_segment(path, 0, SealOptions())

    def check():
        reader = SegmentReader(path)
        assert b"".join(data for _, data, _ in reader.read_pieces(len(FIRST), 1 << 20)) == SECOND
        reader.close()
        remove_leftovers(path)
        delete_segment(path, 0)
        assert list_names(path) == [f"{len(FIRST):016d}.idx", f"{len(FIRST):016d}.raw"]

    assert kill_at_every_step(lambda: delete_segment(path, 0), prepare, check) == 2


def test_a_full_disk_leaves_the_segment_unchanged(folder, monkeypatch):
    def raise_disk_full(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", raise_disk_full)
    with pytest.raises(OSError, match="No space"):
        seal_segment(folder, 0, SealOptions())
    monkeypatch.undo()
    assert read_stream(folder)[0] == FIRST + SECOND
    assert len(list_names(folder)) == 4


@pytest.mark.parametrize("options", BOTH)
def test_a_key_across_two_segments_is_masked_in_both(tmp_path, options):
    path = str(tmp_path / "1")
    first, second = b"x\r\nthe key " + KEY[:12], KEY[12:] + b"\r\nmore\r\n"
    write_stream(path, first, second)
    seal_segment(path, 0, options)
    seal_segment(path, len(first), options)
    assert read_stream(path)[0] == mask_bytes(first + second)
    assert KEY[12:30] not in read_stream(path)[0]


def test_bytes_after_a_hole_are_masked_separately(tmp_path):
    path = str(tmp_path / "1")
    write_stream(path, b"x " * 50 + KEY[:40], KEY[40:] + b"\r\n")
    os.truncate(f"{path}/0000000000000000.raw", 60)
    seal_segment(path, 140, SealOptions())
    reader = SegmentReader(path)
    assert next(iter(reader.read_pieces(140, 100)))[1] == mask_bytes(KEY[40:] + b"\r\n")
    reader.close()


def test_remove_leftovers_keeps_complete_segments(folder):
    before = list_names(folder)
    remove_leftovers(folder)
    assert list_names(folder) == before
    for left in ("0000000000000000.raw.tmp", "0000000000000099.idx"):
        with open(f"{folder}/{left}", "w") as file:
            file.write("left")
    remove_leftovers(folder)
    assert list_names(folder) == before


def test_a_worker_process_seals_the_requested_segments(tmp_path):
    folder = str(tmp_path / "1")
    write_stream(folder)
    paths = Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))
    args = (paths, Settings(), [(folder, 0), (folder, len(FIRST)), (f"{tmp_path}/gone", 0)])
    done = run_worker("termvisor.capture.sealing:seal_segments", args, returns=SealResult, timeout_s=60)
    assert [(result.masked, result.error) for result in done.values] == [(1, ""), (0, ""), (0, "")]
    reader = SegmentReader(folder)
    assert b"".join(data for _, data, _ in reader.read_pieces(0, 1 << 20)) == mask_bytes(FIRST) + SECOND
    reader.close()


def test_disk_errors_are_reported(tmp_path):
    folder = str(tmp_path / "1")
    write_stream(folder)
    os.rename(f"{folder}/0000000000000000.raw", f"{folder}/0000000000000000.raw.zst")
    assert (
        try_seal_segment(folder, 0, SealOptions()).error
        == f"the compressed segment is damaged: {folder}/0000000000000000.raw.zst"
    )
