"""A person at a terminal of their own, before a watched shell whose policy asks about some of their commands."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.setup.shell_integration import build_snippet
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

POLICY = """
[[rule]]
id = "look_first"
when = { kind = ["send_text"], program = ["echo"] }
answer = "ask"
text = "echo speaks"

[[rule]]
id = "two_for_deploy"
when = { kind = ["send_text"], program = ["deploy"] }
answer = "ask"
two_person = true

[rates]
per_minute = 1000
"""
SHELL_RC = "HISTFILE=\nPS1='$ '\nset +o history; set -o history\n"


class TerminalUser:
    """Types at their own terminal, which nobody watches; ``shell`` is the watched pane, ``pane`` our number of it."""

    def __init__(self, scene: WatchedTmux, own_tmux: PrivateTmux, folder: str):
        self.visor, self._scene, self._own_tmux, self.folder = scene.visor, scene, own_tmux, folder
        os.makedirs(self.visor.paths.config_dir, exist_ok=True)
        _write_file(f"{self.visor.paths.config_dir}/policy.toml", POLICY.encode())
        self.visor.start()
        _write_file(f"{folder}/rc", SHELL_RC.encode() + build_snippet("bash", self.visor.paths.nonce_file))
        self.shell_pane = scene.tmux.start_session("watched", f"exec bash --noprofile --rcfile {folder}/rc -i")
        self.pane_id = scene.wait_until_captured(self.shell_pane)
        self._terminal = own_tmux.start_session(
            "own", f"exec env {self._build_environment()} bash --noprofile --norc -i", width=120
        )
        self.run_command("PS1='me> '; visor() { " + f'{sys.executable} -m termvisor "$@"; }}')

    def run_command(self, command: str) -> None:
        """Type a command once the watched shell is at its prompt."""
        self.wait_for_prompt()
        self.type_command(command)

    def wait_for_prompt(self) -> None:
        """Wait until the watched shell is known to be at its prompt."""
        self._scene.tmux.type_line(self.shell_pane, "")
        wait_until(self._is_at_prompt)

    def type_command(self, command: str) -> None:
        """On an empty terminal."""
        self._own_tmux("send-keys", "-R", "-t", self._terminal)
        self._own_tmux.type_line(self._terminal, command)

    def wait_for_text(self, text: str) -> str:
        """Their terminal, once it shows this."""
        try:
            return wait_until(lambda: shown if text in (shown := self.terminal_text) else "")
        except AssertionError as error:
            raise AssertionError(
                f"{text!r} is not on the terminal:\n{self.terminal_text}\n{self.shell_text}"
            ) from error

    def press_keys(self, *keys: str) -> None:
        self._own_tmux("send-keys", "-t", self._terminal, *keys)

    def press_keys_in_shell(self, *keys: str) -> None:
        """At the watched pane itself."""
        self._scene.tmux("send-keys", "-t", self.shell_pane, *keys)

    def answer_question(self, *keys: str) -> None:
        """A question, once it is there."""
        self.wait_for_text("[y/s/e/N]")
        self.press_keys(*keys)

    @property
    def terminal_text(self) -> str:
        return self._own_tmux("capture-pane", "-p", "-J", "-t", self._terminal)

    @property
    def shell_text(self) -> str:
        return self._scene.tmux("capture-pane", "-p", "-J", "-t", self.shell_pane)

    def list_questions(self) -> dict[str, str]:
        """Every text that was ever asked about, with what became of the newest question about it."""
        return {item["action"]["text"]: item["state"] for item in call_robot(self.visor, "inbox", "--all")["items"]}

    def find_question(self, text: str) -> int:
        """Of the open question about a text, once it is asked."""
        found = wait_until(
            lambda: [item for item in call_robot(self.visor, "inbox")["items"] if item["action"].get("text") == text]
        )
        return int(found[0]["id"])

    def _is_at_prompt(self) -> bool:
        activity = next(item["activity"] for item in self._scene.list_panes() if item["identity"]["id"] == self.pane_id)
        return (activity["kind"], activity["is_proven"]) == ("prompt", True)

    def _build_environment(self) -> str:
        known = {**self.visor.env, "VISUAL": "sed -i s/echo/printf/", "PYTHONPATH": os.pathsep.join(sys.path)}
        return " ".join(shlex.quote(f"{name}={value}") for name, value in known.items())


def _write_file(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


@contextmanager
def open_terminal_user(scene: WatchedTmux) -> Iterator[TerminalUser]:
    with make_short_folder() as folder, run_private_tmux(folder, "p") as own:
        yield TerminalUser(scene, own, folder)
