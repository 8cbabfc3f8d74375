"""The private tmux server of the demo: start it, stop it, and know whether it is there."""

import contextlib
import os
import shlex
import sys

from termvisor.errors import MuxError
from termvisor.frontends.demo.fake_agents import AGENTS
from termvisor.frontends.demo.scenes import SCENES
from termvisor.protocol.connect import dial
from termvisor.settings import Places, Settings, prepare
from termvisor.system import subprocesses as spawn

SESSION = "demo"
WINDOWS = (*AGENTS, *SCENES)


def is_running(places: Places) -> bool:
    if (line := dial(places.demo_socket)) is None:
        return False
    line.close()
    return True


def start(places: Places, settings: Settings) -> bool:
    """Start the panes. False when they were there already."""
    if is_running(places):
        return False
    prepare(places)
    words = ["start-server", ";", "set-option", "-g", "history-limit", "50000"]
    make = ["new-session", "-d", "-s", SESSION, "-x", "110", "-y", "30"]
    for name in WINDOWS:
        words += [";", *make, "-c", "/", "-n", name, *_player(name)]
        make = ["new-window", "-d", "-t", f"{SESSION}:"]
    _tmux(places, settings, words)
    return True


def stop(places: Places, settings: Settings) -> bool:
    """End the demo's server. False when there was none."""
    was_running = is_running(places)
    if was_running:
        _tmux(places, settings, ["kill-server"])
    with contextlib.suppress(FileNotFoundError):
        os.unlink(places.demo_socket)
    return was_running


def attach_command(places: Places, settings: Settings) -> str:
    return f"{settings.tmux_program} -S {shlex.quote(places.demo_socket)} attach"


def _player(name: str) -> list[str]:
    return [sys.executable, "-P", "-m", "termvisor.frontends.demo.player", name]


def _tmux(places: Places, settings: Settings, words: list[str]) -> None:
    status, _, errors = spawn.ask([settings.tmux_program, "-f", "/dev/null", "-S", places.demo_socket, *words])
    if status == 127:
        raise MuxError("tmux is not installed", hint="Install it, for example with `sudo apt-get install tmux`.")
    if status:
        raise MuxError(f"the demo's tmux server: {errors.decode(errors='replace').strip()}")
