"""Poll pipes."""

import os

import pytest

from termvisor.recorder.poller import Poller


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_a_pipe_with_bytes_is_reported_until_they_are_read(pipe):
    reader, writer = pipe
    poller = Poller()
    poller.add(reader)
    assert poller.wait(0) == []
    os.write(writer, b"x")
    assert (poller.wait(None), poller.wait(None)) == ([reader], [reader])
    os.read(reader, 1)
    assert poller.wait(0) == []


def test_room_to_write_is_reported_only_while_it_is_wanted(pipe):
    _, writer = pipe
    poller = Poller()
    poller.add(writer)
    poller.set_write_interest(writer, True)
    assert poller.wait(0) == [writer]
    poller.set_write_interest(writer, False)
    assert poller.wait(0) == []


def test_a_removed_descriptor_is_not_reported(pipe):
    reader, writer = pipe
    poller = Poller()
    poller.add(reader)
    os.write(writer, b"x")
    poller.remove(reader)
    assert poller.wait(0) == []


def test_a_plain_file_cannot_be_waited_for():
    with open(__file__) as file, pytest.raises(OSError):
        Poller().add(file.fileno())
