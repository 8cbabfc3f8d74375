"""`visor down`."""

import os

from termvisor.client.daemon_process import is_running
from termvisor.settings import Paths
from tests.unit.fake_daemon import make_private_paths, run_visor


def test_it_stops_the_daemon_and_says_so_and_again_is_no_error(daemon: Paths) -> None:
    status, out, errors = run_visor(daemon, "down")
    assert (status, errors) == (0, "")
    assert out.startswith("Stopped the daemon (pid ")
    assert not is_running(daemon)
    assert run_visor(daemon, "down") == (0, "Nothing was running.\n", "")


def test_an_invalid_config_does_not_prevent_the_stop(daemon: Paths) -> None:
    os.makedirs(daemon.config_dir)
    with open(daemon.config_file, "w") as file:
        file.write("nonsense")
    status, out, _ = run_visor(daemon, "down")
    assert status == 0
    assert out.startswith("Stopped the daemon")


def test_with_nothing_at_all_it_makes_no_folders(folder: str) -> None:
    assert run_visor(make_private_paths(folder), "down") == (0, "Nothing was running.\n", "")
    assert os.listdir(folder) == []
