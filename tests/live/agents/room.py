"""One tmux with one daemon beside it, and as many agents in it as a test likes, at home and at work where it says."""

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from termvisor.testing.instance import instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.compiled import lend
from tests.live.agents.lab import Program, Workplace
from tests.live.agents.model.server import model_server
from tests.live.conftest import Scene
from tests.live.looking import look
from tests.live.waiting import until

WIDTH, HEIGHT = 110, 36
_STILL = 12
"""So many looks at the same picture."""


class Seat:
    """One pane with a shell, and what is said of the agent in it."""

    def __init__(self, scene: Scene, mux_id: str):
        self.scene, self.mux_id = scene, mux_id

    @property
    def row(self) -> dict[str, Any]:
        """Of the pane; empty before it is known."""
        return next((item for item in self.scene.panes() if item["identity"]["pane_id"] == self.mux_id), {})

    @property
    def id(self) -> int:
        return until(lambda: self.scene.id_of(self.mux_id))

    @property
    def screen(self) -> str:
        return self.scene.tmux("capture-pane", "-p", "-J", "-t", self.mux_id)

    @property
    def began(self) -> list[dict[str, Any]]:
        """Every agent that was said to begin here, the first one first."""
        return sorted(self.scene.told(self.id, "agent_began"), key=lambda told: told["runtime"])

    @property
    def explained(self) -> dict[str, Any]:
        return look(self.scene.visor, "explain", str(self.id))

    def type(self, line: str) -> None:
        self.scene.tmux.type(self.mux_id, line)

    def at_prompt(self) -> None:
        """Its shell, which marks its prompts, is heard to wait for a command."""
        self.scene.heard(self.mux_id)
        self.type("")
        until(lambda: self.row["activity"]["kind"] == "prompt")

    def press(self, *keys: str) -> None:
        self.scene.tmux("send-keys", "-t", self.mux_id, *keys)

    def shows(self, words: str, seconds: float = 40.0) -> None:
        until(lambda: words in self.screen, seconds=seconds)

    def prompt(self, text: str) -> None:
        """Typed, seen, and sent once it stands still: an Enter close behind a text is taken for a part of it."""
        self.scene.tmux("send-keys", "-t", self.mux_id, "-l", text)
        until(lambda: text in self.screen)
        seen: list[str] = []
        until(lambda: seen.append(self.screen) or (len(seen) > _STILL and len(set(seen[-_STILL:])) == 1))
        self.press("Enter")

    def becomes(self, *states: str | None, seconds: float = 40.0) -> dict[str, Any]:
        """The pane's row once it is in one of these states; None: once no agent is there."""
        try:
            return until(
                lambda: next((row for row in [self.row] if row and row["state"] in states), None), seconds=seconds
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.row.get('state')}\n{self.screen.rstrip()}") from None


class Room:
    def __init__(self, scene: Scene, folder: Path, model: str):
        self.scene, self.folder, self.model = scene, folder, model
        self.inner: Scene | None = None
        """A second tmux that the same daemon watches."""
        self._count = 0

    def place(self, name: str, program: Program) -> Workplace:
        """A home and a folder to work in."""
        found = Workplace(self.folder / name, self.model)
        program.settle(found)
        return found

    def seat(self) -> Seat:
        self._count += 1
        return Seat(self.scene, self.scene.tmux.start(f"s{self._count}", "bash --norc", width=WIDTH, height=HEIGHT))

    def start(self, program: Program, place: Workplace, *more: str, wrap: str = "{}") -> Seat:
        """An agent in a shell of its own."""
        seat = self.seat()
        seat.type(command(program, place, *more, wrap=wrap))
        return seat


def command(program: Program, place: Workplace, *more: str, wrap: str = "{}") -> str:
    """What a person types. ``wrap`` says what stands around the program's own words."""
    whole = program.command(place, *more).replace("&& exec ", "&& ")
    start = ["node", str(program.path)] if program.path.suffix == ".js" else [str(program.path)]
    run = shlex.join([*start, *program.words, *more])
    assert whole.endswith(run)
    return whole.removesuffix(run) + wrap.format(run, quoted=shlex.quote(run))


@contextlib.contextmanager
def room(**env: str) -> Iterator[Room]:
    """``env`` is for the daemon."""
    with contextlib.ExitStack() as stack:
        model, folder, own = (stack.enter_context(one) for one in (model_server(), short_folder(), short_folder()))
        tmux, inner = (stack.enter_context(private_tmux(own, name)) for name in ("t", "inner"))
        visor = stack.enter_context(instance(own, tmux.socket, inner.socket))
        visor.env = {**visor.env, **env}
        lend(visor.places)
        os.chmod(folder, 0o777)  # others may work here, too
        found = Room(Scene(tmux, visor), Path(folder), model)
        found.inner = Scene(inner, visor)
        tmux.start("keep", "sleep 1000")
        yield found
