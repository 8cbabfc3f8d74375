"""A person at a real terminal: types a command, answers what it asks, and reads the screen."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.pattern_cache import install_pattern_cache

# What a command asks or shows while it waits for a person, and the keys that go on. Views use the alternate screen.
_REACTIONS = (
    (r"^0 .*\[[yY]/", ("y", "Enter")),
    (r"^1 .*^\[demo\]", ("C-b", "d")),
    (r"^1 .*\bpanes? · (?!.*\[demo)", ("q",)),
)


class PersonTerminal:
    def __init__(self, visor: VisorInstance, tmux: PrivateTmux, home: Path, *, width: int):
        self.visor, self._tmux, self._home = visor, tmux, home
        program = home / "visor"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m termvisor "$@"\n')
        program.chmod(0o755)
        environ = {**visor.env, "HOME": str(home), "SHELL": "/bin/bash", "PYTHONPATH": os.pathsep.join(sys.path)}
        environ |= {"PATH": f"{home}:{os.environ['PATH']}", "PS1": "me> ", "BASH_SILENCE_DEPRECATION_WARNING": "1"}
        words = " ".join(shlex.quote(f"{name}={value}") for name, value in environ.items())
        self._pane = tmux.start_session("me", f"exec env {words} bash --noprofile --norc -i", width=width, height=100)
        wait_until(lambda: self.screen.startswith("me>"))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", self._pane)

    def run(self, command: str) -> tuple[int, str]:
        """Type a command, answer its questions, leave its views; return its exit status and all that is shown."""
        self._tmux("send-keys", "-R", "-t", self._pane)
        self._tmux("clear-history", "-t", self._pane)
        self._tmux.type_line(self._pane, f'clear; {command}; echo "<$?>"')
        pending = list(_REACTIONS)

        def find_status() -> str:
            screen, is_view = self.screen, self._tmux.read_format(self._pane, "#{alternate_on}")
            for reaction in pending:
                if re.search(reaction[0], f"{is_view} {screen}", re.MULTILINE | re.DOTALL):
                    pending.remove(reaction)
                    self._tmux("send-keys", "-t", self._pane, *reaction[1])
                    break
            found = re.search(r"^(?:.*[^\"])?<(\d+)>$", screen, re.MULTILINE)
            return found[1] if found else ""

        try:
            status = wait_until(find_status, timeout_s=40)
        except AssertionError as error:
            raise AssertionError(f"{command} does not end:\n{self.screen}") from error
        return int(status), self._tmux("capture-pane", "-p", "-S", "-", "-t", self._pane)


@contextmanager
def open_person_terminal(*, width: int) -> Iterator[PersonTerminal]:
    """Open a terminal of a person with an empty home and without a tmux server of their own."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder, "me") as tmux,
        run_instance(folder, f"{folder}/none") as visor,
    ):
        install_pattern_cache(visor.paths)
        home = Path(folder) / "h"
        home.mkdir()
        (home / ".bashrc").write_text("")
        yield PersonTerminal(visor, tmux, home, width=width)
