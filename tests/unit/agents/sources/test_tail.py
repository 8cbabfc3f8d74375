"""Complete lines of a growing file, each once."""

import os

import pytest

from termvisor.agents.sources import tail
from termvisor.agents.sources.tail import MAX_LINE_BYTES, FileTail


@pytest.fixture
def file(tmp_path):
    """A file, and a function that reads it with a tail to its end."""
    path = tmp_path / "log"
    path.touch()

    def read(tail_reader: FileTail) -> list[bytes]:
        found = []
        with open(path, "rb") as opened:
            found += tail_reader.read_lines(opened.fileno())
            while tail_reader.has_unread_data:
                found += tail_reader.read_lines(opened.fileno())
        return [line.data for line in found]

    return path, read


def append(path, data: bytes) -> None:
    with open(path, "ab") as opened:
        opened.write(data)


def test_a_line_is_returned_when_its_newline_arrives(file):
    path, read = file
    one = FileTail()
    append(path, b"first\nsec")
    assert read(one) == [b"first"]
    assert one.has_partial_line
    append(path, b"ond\n\n \nthird\n")
    assert read(one) == [b"second", b"third"]
    assert (read(one), one.has_partial_line, one.offset) == ([], False, path.stat().st_size)


def test_each_line_has_its_end_offset(file):
    path, _ = file
    append(path, b"one\ntwo\nthr")
    with open(path, "rb") as opened:
        assert [line.end_offset for line in FileTail().read_lines(opened.fileno())] == [4, 8]


def test_a_shorter_file_is_read_again_in_a_new_life(file):
    path, read = file
    one = FileTail()
    append(path, b"first\nsecond\nhal")
    read(one)
    path.write_bytes(b"third\n")
    assert read(one) == [b"third"]
    assert one.life == 1


def test_a_replaced_file_is_detected_by_its_bytes(file):
    path, read = file
    one = FileTail()
    append(path, b"first\n")
    read(one)
    path.write_bytes(b"other\nlonger\n")
    assert read(one) == [b"other", b"longer"]
    path.write_bytes(b"same\nlength!\n")
    assert (read(one), one.life) == ([b"same", b"length!"], 2)


@pytest.mark.parametrize("before", [b"old\n", b"old\nhal", b"hal", b""])
def test_an_offset_within_a_line_moves_to_its_start(file, before):
    path, read = file
    append(path, before)
    one = FileTail(path.stat().st_size)
    append(path, b"f\nnext\n")
    assert read(one) == [before.rpartition(b"\n")[2] + b"f", b"next"]


def test_a_long_line_is_dropped_and_counted(file):
    path, read = file
    one = FileTail()
    append(path, b"x" * MAX_LINE_BYTES)
    read(one)
    append(path, b"x" * MAX_LINE_BYTES)
    assert (read(one), len(one._partial_line)) == ([], 0)
    append(path, b"xx\nshort\n" + b"y" * MAX_LINE_BYTES + b"\n" + b"z" * (MAX_LINE_BYTES + 1) + b"\nlast\n")
    assert read(one) == [b"short", b"y" * MAX_LINE_BYTES, b"last"]
    assert one.dropped == 2


def test_an_offset_within_a_long_line_skips_to_the_next(file, monkeypatch):
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 10)
    path, read = file
    append(path, b"old\n" + b"x" * 20)
    one = FileTail(path.stat().st_size)
    append(path, b"x\nnext\n")
    assert (read(one), one.dropped) == ([b"next"], 1)


def test_a_long_file_is_read_in_chunks(file, monkeypatch):
    monkeypatch.setattr(tail, "READ_CHUNK_BYTES", 5)
    path, read = file
    append(path, b"".join(b"line %d\n" % number for number in range(100)))
    with open(path, "rb") as opened:
        one = FileTail()
        one.read_lines(opened.fileno())
        assert one.has_unread_data
    assert read(FileTail()) == [b"line %d" % number for number in range(100)]


def test_a_removed_file_is_read_while_it_is_open(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"line\n")
    with open(path, "rb") as opened:
        os.remove(path)
        assert [line.data for line in FileTail().read_lines(opened.fileno())] == [b"line"]
