"""Asking an in-memory World as a face would, and the calls that stand for every op in goldens and schema tests."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.model.pane import Activity
from termvisor.model.screen import Screen
from termvisor.ops.answer import Caller, Stderr, ToFile, answer
from termvisor.ops.world import World
from termvisor.settings import Places
from termvisor.testing.world import MemoryWorld, shell


class Answered(Struct, frozen=True):
    """What the caller's terminal and shell got."""

    out: str
    err: str
    status: int
    file: str = ""
    """The file that took the place of stdout, if one did."""

    @property
    def envelope(self) -> dict[str, Any]:
        return dict(msgspec.json.decode(self.out))

    @property
    def items(self) -> list[Any]:
        """The objects of a JSON stream."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]


async def ask(world: World, *argv: str, width: int = 0, colour: bool = False, is_terminal: bool = False) -> Answered:
    """What `visor <argv>` says; the first word `robot` means what it means there."""
    is_robot = argv[:1] == ("robot",)
    words = argv[1:] if is_robot else argv
    return await collect(
        world, Caller(argv=words, is_robot=is_robot, width=width, colour=colour, is_terminal=is_terminal)
    )


async def collect(world: World, caller: Caller) -> Answered:
    out, err, status, file = b"", b"", -1, b""
    async for piece in answer(world, caller):
        if isinstance(piece, int):
            status = piece
        elif isinstance(piece, Stderr):
            err += piece
        elif isinstance(piece, ToFile):
            file = piece
        else:
            out += piece
    return Answered(out.decode(), err.decode(), status, file.decode())


CALLS: dict[str, tuple[str, ...]] = {
    "list_panes": ("state", "--gone"),
    "list_windows": ("list-windows",),
    "list_sessions": ("list-sessions",),
    "get_text": ("get-text", "1", "--numbers"),
    "get_screen": ("get-screen", "2"),
    "search_history": ("search", "error", "--limit", "2"),
    "wait_for": ("wait-for", "1", "tests passed"),
    "list_events": ("events",),
    "watch_events": ("watch-events", "--since-cursor", "1", "--once"),
    "list_gaps": ("gaps",),
    "export": ("export", "1", "--jsonl"),
    "health": ("health",),
    "doctor": ("doctor",),
    "logs": ("logs",),
    "config_init": ("config", "init"),
    "config_show": ("config", "show", "--effective"),
    "config_validate": ("config", "validate"),
    "config_path": ("config", "path"),
    "version": ("version",),
    "quick_start": ("quick-start",),
    "help": ("help", "get-screen"),
}
"""One robot call an op, to be asked of the lively world."""


async def lively(places: Places | None = None) -> MemoryWorld:
    """A world in which something of every kind happened."""
    world = MemoryWorld(places)
    shell_pane = world.pane(shell("%1", active=True, title="make test"))
    agent = world.pane(shell("%4", session="agents", window=2, command="claude", title="✳ fixing tests"))
    ended = world.pane(shell("%9", session="agents", window=3))
    world.happen("daemon_started", version="0.1.0")
    world.happen("pane_appeared", shell_pane.id, session="work")
    world.say(shell_pane.id, "$ make test", "error: 1 test failed", "$ make test")
    await world.clock.advance(60)
    world.lose(shell_pane.id, "pipe_stolen", 4.0)
    await world.clock.advance(5)
    world.say(shell_pane.id, "tests passed", "error: none")
    world.begin(shell_pane.id, "$ ")
    world.end(ended.id)
    world.change(
        shell_pane.id,
        activity=Activity(kind="prompt", since=world.clock.now(), last_exit=0, is_proven=True),
        bytes_heard=4321,
        bytes_per_second=12.34,
    )
    world.change(agent.id, activity=Activity(kind="alt_screen"))
    rows = ("╭─ Fix the tests? ─╮", "│ 1. Yes  2. No    │", "╰──────────────────╯")
    world.fleet.screens[agent.id] = Screen(
        pane=agent.id, rows=rows, width=20, height=3, cursor_x=2, cursor_y=1, alternate=True, at=world.clock.now()
    )
    await world.clock.advance(10)
    return world
