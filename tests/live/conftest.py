"""A real tmux on a private socket and a whole Termvisor beside it; both are always reaped."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.compiled import lend
from tests.live.looking import look
from tests.live.waiting import until


class Scene:
    """A tmux server that is being watched, and words to speak of both."""

    def __init__(self, tmux: PrivateTmux, visor: Instance):
        self.tmux, self.visor = tmux, visor

    def panes(self) -> list[dict]:
        return [item for item in look(self.visor, "state")["items"] if item["server"] == self.tmux.socket]

    def id_of(self, mux_id: str) -> int | None:
        return next((item["identity"]["id"] for item in self.panes() if item["identity"]["pane_id"] == mux_id), None)

    def heard(self, mux_id: str, plane: str = "pipe") -> int:
        """Wait until a pane is heard that way; our number for it."""
        return until(
            lambda: next(
                (
                    item["identity"]["id"]
                    for item in self.panes()
                    if item["identity"]["pane_id"] == mux_id and item["heard_by"] == plane
                ),
                None,
            )
        )

    def say(self, mux_id: str, word: str) -> None:
        """Have a shell print a word, and wait until it can be read back."""
        ours = until(lambda: self.id_of(mux_id))
        self.tmux.type(mux_id, f"echo {word[:3]}''{word[3:]}")
        self.visor.robot("wait-for", str(ours), f"^{word}$", "--regex", "--timeout-secs", "20")

    def lines(self, mux_id: str) -> list[str]:
        return look(self.visor, "get-text", str(self.id_of(mux_id)), "--tail", "500")["text"].split("\n")

    def causes(self) -> list[str]:
        return [gap["cause"] for gap in look(self.visor, "list-gaps")["items"]]

    def events(self) -> list[str]:
        return [event["kind"] for event in look(self.visor, "events", "--limit", "200")["items"]]

    def told(self, ours: int, kind: str) -> list[dict]:
        """What was told of one pane, as the events' data."""
        found = look(self.visor, "events", "--pane", str(ours), "--limit", "200")["items"]
        return [event["data"] for event in found if event["kind"] == kind]

    def gaps(self, ours: int) -> list[str]:
        return [gap["cause"] for gap in look(self.visor, "list-gaps", "--pane", str(ours))["items"]]


@contextmanager
def second_start(folder: str, *sockets: str) -> Iterator[Instance]:
    """A Termvisor that finds its patterns compiled."""
    with instance(folder, *sockets) as visor:
        lend(visor.places)
        yield visor


@contextmanager
def watched_tmux() -> Iterator[Scene]:
    """A server that is being watched, for as many tests as like; each takes a session of its own."""
    with short_folder() as folder, private_tmux(folder) as tmux, second_start(folder, tmux.socket) as visor:
        yield Scene(tmux, visor)


@pytest.fixture
def folder():
    with short_folder() as path:
        yield path


@pytest.fixture
def tmux(folder):
    with private_tmux(folder) as server:
        yield server


@pytest.fixture
def visor(folder, tmux):
    with second_start(folder, tmux.socket) as one:
        yield one


@pytest.fixture
def scene(tmux, visor):
    return Scene(tmux, visor)


@pytest.fixture
def shell(scene):
    """A shell that is being heard; tmux's id of it."""
    mux_id = scene.tmux.start(command="sh")
    scene.heard(mux_id)
    return mux_id
