"""Hand over the state of the recorder to the next program."""

import os
import subprocess
import sys

import pytest

from termvisor.recorder import reexec
from termvisor.recorder.reexec import HandoverState


def written(text: bytes) -> int:
    reader, writer = os.pipe()
    os.write(writer, text)
    os.close(writer)
    return reader


BECOME = """
from termvisor.recorder.reexec import HandoverState, replace_process
state = HandoverState({server}, 12345, [])
state.open_streams.append((1, 2, {pipe}, 10**12, 1_700_000_000_000_000_000))
state.closed_streams.append((3, 4, 99, 2))
replace_process(["{program}"], state)
"""
SUCCESSOR = """#!/bin/sh
cat /proc/self/fd/$1
test -e /proc/self/fd/{server} && test -e /proc/self/fd/{pipe}
"""


def test_everything_is_found_again_by_the_successor(tmp_path):
    server, pipe = os.pipe()
    program = tmp_path / "successor"
    program.write_text(SUCCESSOR.format(server=server, pipe=pipe))
    program.chmod(0o755)
    script = BECOME.format(server=server, pipe=pipe, program=program)
    left = subprocess.run([sys.executable, "-c", script], pass_fds=(server, pipe), stdout=subprocess.PIPE, check=True)
    found = reexec.read_state(written(left.stdout))
    assert (found.server_fd, found.unreported_bytes, found.pending_fds) == (server, 12345, [])
    assert found.open_streams == [(1, 2, pipe, 10**12, 1_700_000_000_000_000_000)]
    assert found.closed_streams == [(3, 4, 99, 2)]
    os.close(server)
    os.close(pipe)


def test_when_there_is_no_successor_everything_is_as_it_was():
    server, pipe = os.pipe()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        reexec.replace_process(["/nowhere/python"], HandoverState(server, 0, [pipe]))
    assert (os.get_inheritable(server), os.get_inheritable(pipe)) == (False, False)
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(server)
    os.close(pipe)


def test_a_state_of_another_form_is_refused():
    with pytest.raises(SystemExit, match="state 99"):
        reexec.read_state(written(b"state 99\n"))


def test_unknown_state_rows_of_a_later_version_are_ignored():
    server, pipe = os.pipe()
    found = reexec.read_state(written(b"state 1\nserver %d\nnovelty 1 2 3" % server))
    assert (found.server_fd, found.open_streams) == (server, [])
    os.close(server)
    os.close(pipe)
