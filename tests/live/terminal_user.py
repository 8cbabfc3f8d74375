"""A user at a terminal without capture, and a captured shell whose policy asks for some commands."""

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
    """A user at their own terminal; ``shell_pane`` is the captured pane, ``pane_id`` its number."""

    def __init__(self, scene: WatchedTmux, own_tmux: PrivateTmux, folder: str):
        self.visor, self._scene, self._own_tmux, self.folder = scene.visor, scene, own_tmux, folder
        os.makedirs(self.visor.paths.config_dir, exist_ok=True)
        _write_file(f"{self.visor.paths.config_dir}/policy.toml", POLICY.encode())
        self.visor.start()
        _write_file(f"{folder}/rc", SHELL_RC.encode() + build_snippet("bash", self.visor.paths))
        self.shell_pane = scene.tmux.start_session("watched", f"exec bash --noprofile --rcfile {folder}/rc -i")
        self.pane_id = scene.wait_until_captured(self.shell_pane)
        self._terminal = own_tmux.start_session(
            "own", f"exec env {self._build_environment()} bash --noprofile --norc -i", width=120
        )
        self.run_command("PS1='me> '; visor() { " + f'{sys.executable} -m termvisor "$@"; }}')

    def run_command(self, command: str) -> None:
        """Type a command once the captured shell is at its prompt."""
        self.wait_for_prompt()
        self.type_command(command)

    def wait_for_prompt(self) -> None:
        """Wait until the captured shell is proven to be at its prompt."""
        # For a prompt at the start of a row, also after output without a newline.
        self._scene.tmux.type_line(self.shell_pane, "")
        wait_until(self._is_at_prompt)

    def type_command(self, command: str) -> None:
        """Clear the terminal and type a command."""
        self._own_tmux("send-keys", "-R", "-t", self._terminal)
        self._own_tmux.type_line(self._terminal, command)

    def wait_for_text(self, text: str) -> str:
        """Wait until the terminal shows this text and return its screen."""
        try:
            return wait_until(lambda: shown if text in (shown := self.terminal_text) else "")
        except AssertionError as error:
            raise AssertionError(
                f"{text!r} is not on the terminal:\n{self.terminal_text}\n{self.shell_text}"
            ) from error

    def press_keys(self, *keys: str) -> None:
        self._own_tmux("send-keys", "-t", self._terminal, *keys)

    def press_keys_in_shell(self, *keys: str) -> None:
        """Press keys in the captured pane."""
        self._scene.tmux("send-keys", "-t", self.shell_pane, *keys)

    def answer_prompt(self, *keys: str) -> None:
        """Wait for the approval prompt and answer it."""
        self.wait_for_text("[y/s/e/N]")
        self.press_keys(*keys)

    @property
    def terminal_text(self) -> str:
        return self._own_tmux("capture-pane", "-p", "-J", "-t", self._terminal)

    @property
    def shell_text(self) -> str:
        return self._scene.tmux("capture-pane", "-p", "-J", "-t", self.shell_pane)

    def list_request_states(self) -> dict[str, str]:
        """Return the state of the newest request by text."""
        return {item["action"]["text"]: item["state"] for item in call_robot(self.visor, "inbox", "--all")["items"]}

    def find_request(self, text: str) -> int:
        """Wait for an open request about a text and return its id."""
        found = wait_until(
            lambda: [item for item in call_robot(self.visor, "inbox")["items"] if item["action"].get("text") == text]
        )
        return int(found[0]["id"])

    def _is_at_prompt(self) -> bool:
        activity = next(item["activity"] for item in self._scene.list_panes() if item["identity"]["id"] == self.pane_id)
        return (activity["kind"], activity["is_proven"]) == ("prompt", True)

    def _build_environment(self) -> str:
        environ = {**self.visor.env, "VISUAL": "sed -i s/echo/printf/", "PYTHONPATH": os.pathsep.join(sys.path)}
        return " ".join(shlex.quote(f"{name}={value}") for name, value in environ.items())


def _write_file(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


@contextmanager
def open_terminal_user(scene: WatchedTmux) -> Iterator[TerminalUser]:
    with make_short_folder() as folder, run_private_tmux(folder, "p") as own_tmux:
        yield TerminalUser(scene, own_tmux, folder)
