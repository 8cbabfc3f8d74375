"""Daemon processes with fake services, always reaped, and the real `visor` command against them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from termvisor.client import daemon_process
from termvisor.settings import Paths, get_environment
from termvisor.system.subprocesses import run_and_capture
from tests.pattern_cache import get_pattern_cache_dir

DAEMON_SCRIPT = str(Path(__file__).with_name("fake_daemon_main.py"))


def build_daemon_command(mode: str = "serve", panes: int = 3) -> list[str]:
    return [sys.executable, DAEMON_SCRIPT, mode, str(panes), get_pattern_cache_dir()]


def make_private_paths(folder: str) -> Paths:
    return Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")


@contextmanager
def stop_daemon_at_exit(paths: Paths) -> Iterator[Paths]:
    """Stop the daemon of these paths at the end of the context."""
    try:
        yield paths
    finally:
        daemon_process.stop_daemon(paths, timeout_s=5.0)
        reap_daemons()


@contextmanager
def run_fake_daemon(folder: str, panes: int = 3) -> Iterator[Paths]:
    with stop_daemon_at_exit(make_private_paths(folder)) as places:
        daemon_process.ensure_running(places, command=build_daemon_command(panes=panes))
        yield places


def reap_daemons() -> None:
    """Reap the daemons that this process started and that exited."""
    for child in list(daemon_process._started_daemons):
        with suppress(ValueError):
            if child.wait(5.0) is not None:
                daemon_process._started_daemons.remove(child)


def build_environment(paths: Paths, **more: str) -> dict[str, str]:
    clean = {
        name: value for name, value in get_environment().items() if not name.startswith(("VISOR_", "TMUX", "NO_COLOR"))
    }
    folders = {"CONFIG": paths.config_dir, "DATA": paths.data_dir, "RUNTIME": paths.runtime_dir}
    return clean | {f"VISOR_{name}_DIR": path for name, path in folders.items()} | more


def run_visor(paths: Paths, *words: str, **more: str) -> tuple[int, str, str]:
    """Run the real `visor` command and return status, stdout and stderr."""
    status, out, errors = run_and_capture(
        [sys.executable, "-m", "termvisor", *words], timeout_s=60.0, env=build_environment(paths, **more)
    )
    return status, out.decode(), errors.decode()
