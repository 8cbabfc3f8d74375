"""Run the test suites of libtmux and tmuxp, and read the outcome of each of their tests."""

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import pytest

PARTS = Path(__file__).parents[3] / ".parts" / "foreign-suites"
FULL_RUN = "FOREIGN_SUITES"
"""Environment variable; `full` runs all of their tests."""


class ForeignSuite(NamedTuple):
    """A suite and the part of it that handles servers, sessions, windows, panes and clients."""

    name: str
    selected: tuple[str, ...]
    sessions: int
    """At least so many sessions of the selected tests must have been captured."""

    @property
    def tests(self) -> tuple[str, ...]:
        return ("src", "tests") if os.environ.get(FULL_RUN) == "full" else self.selected


LIBTMUX = ForeignSuite(
    "libtmux",
    ("tests/test_server.py", "tests/test_session.py", "tests/test_client.py", "tests/test_control_mode.py"),
    80,
)
TMUXP = ForeignSuite("tmuxp", ("tests/workspace/test_builder.py", "tests/workspace/test_freezer.py"), 40)


class SuiteRun:
    """Runs tests of a suite with its servers in a folder; with a report file, its tests wait for the daemon."""

    def __init__(self, suite: ForeignSuite, folder: str, report: str = ""):
        self._suite, self._folder = suite, folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMUX_TMPDIR": folder,
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WATCHED_SERVERS_REPORT": report,
        }

    def run(self, tests: tuple[str, ...], workers: int = 0) -> dict[str, str]:
        """Return the outcome of each test: passed, failed, error or skipped."""
        if not (PARTS / self._suite.name).is_dir():
            pytest.fail(f"the test suite of {self._suite.name} is missing. Fetch it with: .ci/foreign-suites")
        results = Path(self._folder, f"{os.urandom(4).hex()}.xml")
        options = ["-q", "--tb=no", "--reruns=0", "-p", "no:cacheprovider", "-p", "watched_server_plugin"]
        places = [f"--basetemp={results}.tmp", f"--junitxml={results}", "-o", "junit_family=xunit1"]
        done = subprocess.run(
            [str(PARTS / "venv" / "bin" / "pytest"), *options, *places, f"-n{workers}", *tests],
            cwd=PARTS / self._suite.name,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        # 1: tests failed, as some of them do on every machine.
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return read_outcomes(results)


def read_outcomes(results: Path) -> dict[str, str]:
    """Read pytest's XML report. The keys are arguments with which pytest runs the test again."""
    outcomes = {}
    for case in ElementTree.parse(results).iter("testcase"):
        problem = next((one.tag for one in case if one.tag in ("failure", "error", "skipped")), "passed")
        outcomes[f"{case.get('file')}::{case.get('name')}"] = problem
    return outcomes
