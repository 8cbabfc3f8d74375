"""`visor daemon` with a real daemon in private folders."""

from collections.abc import Iterator

import pytest

from termvisor.client.daemon_process import fetch_hello
from termvisor.daemon.lifecycle import find_recorder_pid
from termvisor.settings import Paths
from tests.pattern_cache import install_pattern_cache
from tests.unit.fake_daemon import make_private_paths, run_visor


@pytest.fixture
def places(folder: str) -> Iterator[Paths]:
    where = make_private_paths(folder)
    install_pattern_cache(where)
    yield where
    daemon(where, "down")


def daemon(places: Paths, *words: str) -> tuple[int, str, str]:
    return run_visor(places, *words, VISOR_TMUX_SOCKETS=f"{places.runtime_dir}/none")


def test_it_is_started_looked_at_and_stopped(places: Paths) -> None:
    assert daemon(places, "daemon", "status") == (3, "not running\n", "")
    status, out, _ = daemon(places, "daemon")
    hello = fetch_hello(places)
    assert hello is not None
    assert (status, f"pid {hello.pid}," in out) == (0, True)
    assert daemon(places, "daemon", "status")[:2] == (0, f"running, pid {hello.pid}, version {hello.version}\n")
    assert daemon(places, "daemon", "stop")[:2] == (0, f"Stopped the daemon (pid {hello.pid}).\n")
    assert daemon(places, "daemon", "stop")[:2] == (0, "No daemon was running.\n")


def test_a_restart_makes_a_new_daemon_and_keeps_the_recorder(places: Paths) -> None:
    daemon(places, "daemon", "start")
    before, recorder = fetch_hello(places), find_recorder_pid(places)
    assert daemon(places, "daemon", "restart")[0] == 0
    after = fetch_hello(places)
    assert before is not None
    assert after is not None
    assert after.pid != before.pid
    assert find_recorder_pid(places) == recorder


def test_a_second_one_in_the_foreground_is_refused(places: Paths) -> None:
    daemon(places, "daemon", "start")
    status, _, errors = daemon(places, "daemon", "--foreground")
    assert status == 75
    assert errors.startswith("visor: reserved: a daemon is already running (pid ")


def test_an_unknown_action_is_an_error(places: Paths) -> None:
    status, _, errors = daemon(places, "daemon", "strat")
    assert status == 2
    assert errors.endswith("hint: See `visor daemon --help`.\n")
