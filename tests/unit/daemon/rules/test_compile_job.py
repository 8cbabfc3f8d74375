"""What a process that compiles for a daemon is told: all of it, and nothing else."""

import sys

from termvisor.daemon.rules.compile_job import CompileJob
from termvisor.settings import Paths, Settings
from termvisor.system.subprocesses import run_and_capture


def test_folders_and_settings_arrive_as_they_are() -> None:
    settings = Settings(patterns_disabled=("core.tmux",), redact_patterns=("ACME-[0-9]+",), retention=0.5)
    errand = CompileJob(Paths("/c", "/d é", "/r"), settings)
    script = "import sys; from termvisor.daemon.rules.compile_job import heard; sys.stdout.buffer.write(heard().told)"
    status, out, errors = run_and_capture([sys.executable, "-c", script], stdin=errand.encoded, timeout_s=60)
    assert (status, errors) == (0, b"")
    assert out == errand.encoded
