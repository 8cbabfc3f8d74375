"""A person at a terminal of their own, before a watched shell whose policy asks about some of their commands."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.setup.shell_integration import snippet
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.live.conftest import Scene
from tests.live.looking import look
from tests.live.waiting import until

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
RC = "HISTFILE=\nPS1='$ '\nset +o history; set -o history\n"


class Person:
    """Types at their own terminal, which nobody watches; ``shell`` is the watched pane, ``pane`` our number of it."""

    def __init__(self, scene: Scene, own: PrivateTmux, folder: str):
        self.visor, self._scene, self._own, self.folder = scene.visor, scene, own, folder
        os.makedirs(self.visor.places.config_dir, exist_ok=True)
        _write(f"{self.visor.places.config_dir}/policy.toml", POLICY.encode())
        self.visor.up()
        _write(f"{folder}/rc", RC.encode() + snippet("bash", self.visor.places.nonce_file))
        self.shell = scene.tmux.start("watched", f"exec bash --noprofile --rcfile {folder}/rc -i")
        self.pane = scene.heard(self.shell)
        self._terminal = own.start("own", f"exec env {self._environment()} bash --noprofile --norc -i", width=120)
        self.run("PS1='me> '; visor() { " + f'{sys.executable} -m termvisor "$@"; }}')

    def run(self, command: str) -> None:
        """Once the watched shell is at its prompt."""
        self._scene.tmux.type(self.shell, "")
        until(self._is_at_prompt)
        self.type(command)

    def type(self, command: str) -> None:
        """On an empty terminal."""
        self._own("send-keys", "-R", "-t", self._terminal)
        self._own.type(self._terminal, command)

    def sees(self, text: str) -> str:
        """Their terminal, once it shows this."""
        try:
            return until(lambda: shown if text in (shown := self.screen) else "")
        except AssertionError as error:
            raise AssertionError(f"{text!r} is not on the terminal:\n{self.screen}\n{self.watched}") from error

    def press(self, *keys: str) -> None:
        self._own("send-keys", "-t", self._terminal, *keys)

    def press_there(self, *keys: str) -> None:
        """At the watched pane itself."""
        self._scene.tmux("send-keys", "-t", self.shell, *keys)

    def answers(self, *keys: str) -> None:
        """A question, once it is there."""
        self.sees("[y/s/e/N]")
        self.press(*keys)

    @property
    def screen(self) -> str:
        return self._own("capture-pane", "-p", "-J", "-t", self._terminal)

    @property
    def watched(self) -> str:
        return self._scene.tmux("capture-pane", "-p", "-J", "-t", self.shell)

    def questions(self) -> dict[str, str]:
        """Every text that was ever asked about, with what became of the newest question about it."""
        return {item["action"]["text"]: item["state"] for item in look(self.visor, "inbox", "--all")["items"]}

    def number_of(self, text: str) -> int:
        """Of the open question about a text, once it is asked."""
        found = until(
            lambda: [item for item in look(self.visor, "inbox")["items"] if item["action"].get("text") == text]
        )
        return int(found[0]["id"])

    def _is_at_prompt(self) -> bool:
        activity = next(item["activity"] for item in self._scene.panes() if item["identity"]["id"] == self.pane)
        return (activity["kind"], activity["is_proven"]) == ("prompt", True)

    def _environment(self) -> str:
        known = {**self.visor.env, "VISUAL": "sed -i s/echo/printf/", "PYTHONPATH": os.pathsep.join(sys.path)}
        return " ".join(shlex.quote(f"{name}={value}") for name, value in known.items())


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


@contextmanager
def seated(scene: Scene) -> Iterator[Person]:
    with short_folder() as folder, private_tmux(folder, "p") as own:
        yield Person(scene, own, folder)
