"""Build and parse the command line of the recorder."""

import os
import subprocess
import sys

import pytest

import termvisor
from termvisor.recorder import startup
from termvisor.recorder.startup import HandoverState, RecorderOptions, parse_arguments


def test_the_command_line_keeps_options_with_unusual_paths():
    options = RecorderOptions("/run/a b'c/rec", '/data/#%"/raw', 5, 6)
    command = options.build_command("/usr/bin/python3", "/lib")
    found, state = parse_arguments(command[4:])
    assert (found.socket, found.raw_dir, found.segment_bytes, found.cap_bytes) == (
        "/run/a b'c/rec", "/data/#%\"/raw", 5, 6,
    )  # fmt: skip
    assert state is None
    assert parse_arguments([*command[4:], "17"])[1] == 17


def test_the_recorder_process_imports_few_modules():
    root = os.path.dirname(os.path.dirname(termvisor.__file__))
    script = f"import sys; sys.path[:0] = [{root!r}]; import termvisor.recorder.process; print(*sys.modules)"
    command = [sys.executable, "-ISE", "-c", script]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    heavy = {"os", "re", "typing", "collections", "enum", "signal", "socket", "struct", "contextlib", "functools"}
    for_readers = {"termvisor.recorder.compressed_segment", "zstandard", "bisect"}
    assert loaded & (heavy | for_readers) == set()


def write_to_file(text: bytes) -> int:
    reader, writer = os.pipe()
    os.write(writer, text)
    os.close(writer)
    return reader


BECOME = """
from termvisor.recorder.startup import HandoverState, replace_process
state = HandoverState({server}, 12345, [])
state.open_streams.append((1, 2, {pipe}, 10**12, 1_700_000_000_000_000_000))
state.closed_streams.append((3, 4, 99, 2))
replace_process(["{program}"], state)
"""
SUCCESSOR = """#!/bin/sh
cat /proc/self/fd/$1
test -e /proc/self/fd/{server} && test -e /proc/self/fd/{pipe}
"""


def test_the_successor_reads_the_complete_state(tmp_path):
    server, pipe = os.pipe()
    program = tmp_path / "successor"
    program.write_text(SUCCESSOR.format(server=server, pipe=pipe))
    program.chmod(0o755)
    script = BECOME.format(server=server, pipe=pipe, program=program)
    left = subprocess.run([sys.executable, "-c", script], pass_fds=(server, pipe), stdout=subprocess.PIPE, check=True)
    found = startup.read_state(write_to_file(left.stdout))
    assert (found.server_fd, found.unreported_bytes, found.pending_fds) == (server, 12345, [])
    assert found.open_streams == [(1, 2, pipe, 10**12, 1_700_000_000_000_000_000)]
    assert found.closed_streams == [(3, 4, 99, 2)]
    os.close(server)
    os.close(pipe)


def test_a_failed_exec_restores_the_descriptors():
    server, pipe = os.pipe()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        startup.replace_process(["/nowhere/python"], HandoverState(server, 0, [pipe]))
    assert (os.get_inheritable(server), os.get_inheritable(pipe)) == (False, False)
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(server)
    os.close(pipe)


def test_a_state_in_another_format_is_refused():
    with pytest.raises(SystemExit, match="state 99"):
        startup.read_state(write_to_file(b"state 99\n"))


def test_unknown_state_rows_of_a_later_version_are_ignored():
    server, pipe = os.pipe()
    found = startup.read_state(write_to_file(b"state 1\nserver %d\nnovelty 1 2 3" % server))
    assert (found.server_fd, found.open_streams) == (server, [])
    os.close(server)
    os.close(pipe)
