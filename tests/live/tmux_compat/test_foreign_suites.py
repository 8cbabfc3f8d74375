"""The test suites of libraries that drive tmux give the same results while a daemon watches the very servers they use.

A selection runs by default; FOREIGN_SUITES=full runs all of their tests.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.live.tmux_compat.behaviour_runner import run_discovering_instance
from tests.live.tmux_compat.foreign_suites import LIBTMUX, TMUXP, ForeignSuite, SuiteRun

pytestmark = [pytest.mark.live, pytest.mark.timeout(1200)]
WAITING_WORKERS = 6
"""Processes for the watched side, whose tests mostly wait until their servers are discovered. Starting one takes as
much of a processor as a hundred tests."""


ATTEMPTS = 3
"""Some of their tests read a pane without waiting for it, and fail now and then on a busy machine."""


def find_differences(one: dict[str, str], other: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
    return {name: (one.get(name), other.get(name)) for name in one | other if one.get(name) != other.get(name)}


def compare_suite(
    alone: SuiteRun, watched: SuiteRun, tests: tuple[str, ...]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the tests whose results differ each time: first beside all others, then run alone."""
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(alone.run, tests), pool.submit(watched.run, tests, WAITING_WORKERS)]
        differences = find_differences(*(run.result() for run in runs))
    for _ in range(ATTEMPTS):
        again = tuple(differences)
        differences = find_differences(alone.run(again), watched.run(again)) if again else {}
    return differences


@pytest.mark.parametrize("suite", [LIBTMUX, TMUXP], ids=lambda suite: suite.name)
def test_a_foreign_suite_has_the_same_results_while_it_is_watched(suite: ForeignSuite) -> None:
    with make_short_folder() as folder, make_short_folder() as quiet, run_discovering_instance(folder):
        report = Path(folder, "captured-sessions")
        alone, watched = SuiteRun(suite, quiet), SuiteRun(suite, folder, str(report))
        assert compare_suite(alone, watched, suite.tests) == {}
        assert len(report.read_text().splitlines()) >= suite.sessions
