"""Disturb panes at random, as other users and programs do.

Usage: `python -m tests.live.pane_disturber <tmux socket> <seed> <kind>=<pane>=<command> …`.

Until it is killed, it starts, kills and replaces programs, moves panes and enters copy mode. It never presses Enter on
text that it did not type itself.
"""

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable

from termvisor.testing.private_tmux import PrivateTmux


class PaneDisturber:
    def __init__(self, tmux: PrivateTmux, rng: random.Random, panes: list[tuple[str, str, str]]):
        self._tmux, self._rng, self._panes = tmux, rng, panes

    def disturb_once(self) -> None:
        kind, pane, command = self._rng.choice(self._panes)
        actions_by_kind: dict[str, list[Callable[[str, str], None]]] = {
            "shell": [self._run_editor],
            "reader": [],
            "nested": [self._kill_child, self._start_reader, self._start_reader],
        }
        action = self._rng.choice(
            [
                *actions_by_kind[kind],
                self._respawn_pane,
                self._swap_panes,
                self._enter_copy_mode,
                self._move_window,
                self._clear_line,
            ]
        )
        with contextlib.suppress(AssertionError):  # not possible in the current state of the pane
            action(pane, command)
        self._pause()

    def _respawn_pane(self, pane: str, command: str) -> None:
        self._tmux("respawn-pane", "-k", "-t", pane, command)

    def _swap_panes(self, pane: str, _command: str) -> None:
        self._tmux("swap-pane", "-d", "-s", pane, "-t", self._rng.choice(self._panes)[1])

    def _enter_copy_mode(self, pane: str, _command: str) -> None:
        self._tmux("copy-mode", "-t", pane)
        self._pause()
        self._tmux("send-keys", "-t", pane, "-X", "cancel")

    def _move_window(self, pane: str, _command: str) -> None:
        self._tmux("move-window", "-d", "-s", pane, "-t", f"=s:{self._rng.randint(100, 10_000)}")

    def _clear_line(self, pane: str, _command: str) -> None:
        self._tmux("send-keys", "-t", pane, "C-u")

    def _run_editor(self, pane: str, _command: str) -> None:
        self._type_line(pane, "editor")
        self._pause()
        self._tmux("send-keys", "-t", pane, "C-c")

    def _start_reader(self, pane: str, _command: str) -> None:
        if self._tmux.read_format(pane, "#{pane_current_command}") == "bash":
            self._type_line(pane, "reader")

    def _kill_child(self, pane: str, _command: str) -> None:
        shell = self._tmux.read_format(pane, "#{pane_pid}")
        with contextlib.suppress(OSError), open(f"/proc/{shell}/task/{shell}/children") as file:
            for child in file.read().split():
                os.kill(int(child), signal.SIGKILL)

    def _type_line(self, pane: str, text: str) -> None:
        self._clear_line(pane, "")
        self._tmux("send-keys", "-t", pane, "-l", "--", text)
        self._tmux("send-keys", "-t", pane, "Enter")

    def _pause(self) -> None:
        time.sleep(self._rng.uniform(0.0, 0.4))


if __name__ == "__main__":
    found = [one.split("=", 2) for one in sys.argv[3:]]
    disturber = PaneDisturber(
        PrivateTmux(sys.argv[1]), random.Random(int(sys.argv[2])), [(one[0], one[1], one[2]) for one in found]
    )
    while True:
        disturber.disturb_once()
