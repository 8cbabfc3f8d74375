"""Waiting for the end of a command.

Which command is meant is settled once: the one that runs now; or, with a cursor, or when none runs, the first one that
starts after it. The line of a prompt that a cursor stands before is finished by what is typed in it; so a command that
starts after the cursor has its output at least two lines behind it, and one that started earlier has not.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import CommandId
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import World
from termvisor.ops.panes._text_cursor import newest


class Awaited(Struct, frozen=True):
    """A command by its number, or the first one whose output begins more than one line after this."""

    id: CommandId | None
    after: int


async def awaited(world: World, pane: PaneView, since: int | None) -> Awaited:
    """What to wait for, as things stand now; ``since`` is the line of a cursor."""
    if since is None and pane.activity.kind != "prompt":
        last = await world.history.commands.one(pane.id, "last")
        if last is not None and last.status == "running":
            return Awaited(last.id, 0)
    return Awaited(None, await newest(world, pane.id) if since is None else since)


async def ended(world: World, pane: PaneView, what: Awaited) -> Command | None:
    """The command, once it is over."""
    commands = world.history.commands
    found = await (commands.following(pane.id, what.after + 1) if what.id is None else commands.one(pane.id, what.id))
    return None if found is None or found.status == "running" else found


def outcome(command: Command) -> Literal["finished", "lost"]:
    return "finished" if command.status == "finished" else "lost"


async def missed(world: World, pane: PaneView) -> str:
    """What to do when no end was heard."""
    last = await world.history.commands.one(pane.id, "last")
    if last is None:
        return "No command was ever heard in this pane: `visor setup shell` makes your shell tell them."
    if last.status == "running":
        return "It still runs. Allow more time with --timeout-secs."
    return "If it was over before the call: take a cursor first and give it with --since."
