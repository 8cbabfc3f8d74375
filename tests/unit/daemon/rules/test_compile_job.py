"""The compile job arrives unchanged in the compile process."""

import sys

from termvisor.daemon.rules.compile_job import CompileJob
from termvisor.settings import Paths, Settings
from termvisor.system.subprocesses import run_and_capture


def test_paths_and_settings_arrive_unchanged() -> None:
    settings = Settings(patterns_disabled=("core.tmux",), redact_patterns=("ACME-[0-9]+",), retention=0.5)
    job = CompileJob(Paths("/c", "/d é", "/r"), settings)
    script = (
        "import sys; from termvisor.daemon.rules.compile_job import read_compile_job\n"
        "sys.stdout.buffer.write(read_compile_job().encode())"
    )
    status, out, errors = run_and_capture([sys.executable, "-c", script], stdin=job.encode(), timeout_s=60)
    assert (status, errors) == (0, b"")
    assert out == job.encode()
