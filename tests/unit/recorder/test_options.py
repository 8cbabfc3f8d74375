"""Build and parse the command line of the recorder."""

import os
import subprocess
import sys

import termvisor
from termvisor.recorder.options import RecorderOptions, parse_arguments


def test_a_command_carries_the_options_whatever_their_paths_look_like():
    options = RecorderOptions("/run/a b'c/rec", '/data/#%"/raw', 5, 6)
    command = options.build_command("/usr/bin/python3", "/lib")
    found, state = parse_arguments(command[4:])
    assert (found.socket, found.raw_dir, found.segment_bytes, found.cap_bytes) == (
        "/run/a b'c/rec", "/data/#%\"/raw", 5, 6,
    )  # fmt: skip
    assert state is None
    assert parse_arguments([*command[4:], "17"])[1] == 17


def test_the_process_loads_only_the_smallest_modules():
    root = os.path.dirname(os.path.dirname(termvisor.__file__))
    script = f"import sys; sys.path[:0] = [{root!r}]; import termvisor.recorder.process; print(*sys.modules)"
    command = [sys.executable, "-ISE", "-c", script]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    heavy = {"os", "re", "typing", "collections", "enum", "signal", "socket", "struct", "contextlib", "functools"}
    for_readers = {"termvisor.recorder.compressed_segment", "zstandard", "bisect"}
    assert loaded & (heavy | for_readers) == set()
