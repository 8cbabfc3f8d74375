"""What a process that compiles for a daemon is told: all of it, and nothing else."""

import sys

from termvisor.daemon.rules.compile_job import Errand
from termvisor.settings import Places, Settings
from termvisor.system.subprocesses import ask


def test_folders_and_settings_arrive_as_they_are() -> None:
    settings = Settings(patterns_disabled=("core.tmux",), redact_patterns=("ACME-[0-9]+",), retention=0.5)
    errand = Errand(Places("/c", "/d é", "/r"), settings)
    script = "import sys; from termvisor.daemon.rules.compile_job import heard; sys.stdout.buffer.write(heard().told)"
    status, out, errors = ask([sys.executable, "-c", script], stdin=errand.told, timeout=60)
    assert (status, errors) == (0, b"")
    assert out == errand.told
