"""Waiting for the end of a command.

Which command is meant is settled once: the one that runs now; or, with a cursor, or when none runs, the first one that
starts after it. The line of a prompt that a cursor stands before is finished by what is typed in it; so a command that
starts after the cursor has its output at least two lines behind it, and one that started earlier has not.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import CommandId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.services import Services
from termvisor.ops.panes._text_cursor import find_last_line_number


class AwaitedCommand(Struct, frozen=True):
    """A command by its number, or the first one whose output begins more than one line after this."""

    id: CommandId | None
    after: int


async def choose_awaited_command(services: Services, pane: PaneView, since: int | None) -> AwaitedCommand:
    """What to wait for, as things stand now; ``since`` is the line of a cursor."""
    if since is None and pane.activity.kind != "prompt":
        last = await services.history.commands.find(pane.id, "last")
        if last is not None and last.status == "running":
            return AwaitedCommand(last.id, 0)
    return AwaitedCommand(None, await find_last_line_number(services, pane.id) if since is None else since)


async def find_ended_command(services: Services, pane: PaneView, target: AwaitedCommand) -> ShellCommand | None:
    """The command, once it is over."""
    commands = services.history.commands
    found = await (
        commands.find_after_line(pane.id, target.after + 1) if target.id is None else commands.find(pane.id, target.id)
    )
    return None if found is None or found.status == "running" else found


def get_command_outcome(command: ShellCommand) -> Literal["finished", "lost"]:
    return "finished" if command.status == "finished" else "lost"


async def explain_missed_command(services: Services, pane: PaneView) -> str:
    """What to do when no end was heard."""
    last = await services.history.commands.find(pane.id, "last")
    if last is None:
        return "No command was ever heard in this pane: `visor setup shell` makes your shell tell them."
    if last.status == "running":
        return "It still runs. Allow more time with --timeout-secs."
    return "If it was over before the call: take a cursor first and give it with --since."
