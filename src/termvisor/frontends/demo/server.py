"""Start, stop and find the private tmux server of the demo."""

import contextlib
import os
import shlex
import sys

from termvisor.errors import MuxError
from termvisor.frontends.demo.fake_agents import DEMO_AGENTS
from termvisor.frontends.demo.scenes import DEMO_SCENES
from termvisor.protocol.unix_socket import connect_socket
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.system import subprocesses

SESSION = "demo"
_PROGRAMS_FOLDER = os.path.join(os.path.dirname(__file__), "programs")
WINDOWS = (*DEMO_AGENTS, *DEMO_SCENES)


def is_running(paths: Paths) -> bool:
    if (connection := connect_socket(paths.demo_socket)) is None:
        return False
    connection.close()
    return True


def start_demo(paths: Paths, settings: Settings) -> bool:
    """Start the demo; return False if it was already running."""
    if is_running(paths):
        return False
    make_instance_folders(paths)
    words = ["start-server", ";", "set-option", "-g", "history-limit", "50000"]
    create = ["new-session", "-d", "-s", SESSION, "-x", "110", "-y", "30"]
    for name in WINDOWS:
        words += [";", *create, "-c", "/", "-n", name, *_build_player_command(name)]
        create = ["new-window", "-d", "-t", f"{SESSION}:"]
    _run_tmux(paths, settings, words)
    return True


def stop_demo(paths: Paths, settings: Settings) -> bool:
    """Stop the demo; return False if it was not running."""
    was_running = is_running(paths)
    if was_running:
        _run_tmux(paths, settings, ["kill-server"])
    # tmux leaves its socket behind when killed.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(paths.demo_socket)
    return was_running


def build_attach_command(paths: Paths, settings: Settings) -> str:
    return f"{settings.tmux_program} -S {shlex.quote(paths.demo_socket)} attach"


def _build_player_command(name: str) -> list[str]:
    # An agent is a program in a package of its own, where its version is looked up as that of any agent.
    program = (
        [f"{_PROGRAMS_FOLDER}/{name}/{name}"] if name in DEMO_AGENTS else ["-m", "termvisor.frontends.demo.player"]
    )
    # -P: do not search the current folder for modules.
    return [sys.executable, "-P", *program, name]


def _run_tmux(paths: Paths, settings: Settings, words: list[str]) -> None:
    status, _, errors = subprocesses.run_and_capture(
        # The user's tmux.conf could start plug-ins or change the demo's panes.
        [settings.tmux_program, "-f", "/dev/null", "-S", paths.demo_socket, *words]
    )
    if status == 127:
        raise MuxError("tmux is not installed", hint="Install it, for example with `sudo apt-get install tmux`.")
    if status:
        raise MuxError(f"the demo's tmux server: {errors.decode(errors='replace').strip()}")
