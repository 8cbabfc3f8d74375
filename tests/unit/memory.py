"""Daemons with a world in memory, as processes of their own, always reaped; and the real command against them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from termvisor.client import daemon_process as start
from termvisor.settings import Places, environment
from termvisor.system.subprocesses import ask
from tests.compiled import kept

SCRIPT = str(Path(__file__).with_name("memory_daemon.py"))


def command(mode: str = "serve", panes: int = 3) -> list[str]:
    return [sys.executable, SCRIPT, mode, str(panes), kept()]


def private_places(folder: str) -> Places:
    return Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")


@contextmanager
def reaped(places: Places) -> Iterator[Places]:
    """Whatever daemon runs there at the end is stopped."""
    try:
        yield places
    finally:
        start.stop(places, within=5.0)
        reap()


@contextmanager
def memory_daemon(folder: str, panes: int = 3) -> Iterator[Places]:
    with reaped(private_places(folder)) as places:
        start.ensure_running(places, command=command(panes=panes))
        yield places


def reap() -> None:
    """Forget the daemons that this process started and that ended."""
    for child in list(start._started):
        with suppress(ValueError):
            if child.wait(5.0) is not None:
                start._started.remove(child)


def env(places: Places, **more: str) -> dict[str, str]:
    clean = {
        name: value for name, value in environment().items() if not name.startswith(("VISOR_", "TMUX", "NO_COLOR"))
    }
    folders = {"CONFIG": places.config_dir, "DATA": places.data_dir, "RUNTIME": places.runtime_dir}
    return clean | {f"VISOR_{name}_DIR": path for name, path in folders.items()} | more


def visor(places: Places, *words: str, **more: str) -> tuple[int, str, str]:
    """The real command, as a user runs it: status, output, errors."""
    status, out, errors = ask([sys.executable, "-m", "termvisor", *words], timeout=60.0, env=env(places, **more))
    return status, out.decode(), errors.decode()
