"""Commands in memory, for tests of operations."""

from typing import Literal

from msgspec.structs import replace

from termvisor.model.ids import CommandId, EpochId, PaneId
from termvisor.model.terminal.command import Command


class MemoryCommands:
    def __init__(self) -> None:
        self.ran: list[Command] = []

    def start(self, pane: PaneId, line: str | None, at: int, first_line: int) -> Command:
        """A shell starts a command whose output begins with this line."""
        number = len(self.ran) + 1
        command = Command(
            id=CommandId(number),
            pane=pane,
            epoch=EpochId(1),
            line=line,
            cwd="/home/me/project",
            started_at=at,
            start=100 * number,
            first_line=first_line,
            is_proven=True,
        )
        self.ran.append(command)
        return command

    def end(self, pane: PaneId, exit_code: int | None, at: int, last_line: int) -> Command:
        """The command that runs in the pane ends; without a status it is lost."""
        index = max(index for index, command in enumerate(self.ran) if command.pane == pane)
        known = self.ran[index]
        ended = replace(known, end=known.start + 50, last_line=last_line, status="lost")
        if exit_code is not None:
            ended = replace(ended, ended_at=at, exit_code=exit_code, status="finished")
        self.ran[index] = ended
        return ended

    async def one(self, pane: PaneId, which: CommandId | Literal["last"]) -> Command | None:
        fits = [command for command in self.ran if command.pane == pane and which in ("last", command.id)]
        return fits[-1] if fits else None

    async def following(self, pane: PaneId, line: int) -> Command | None:
        return next((command for command in self.ran if command.pane == pane and command.first_line > line), None)

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[Command]:
        fits = [
            command
            for command in self.ran
            if pane in (None, command.pane)
            and (since is None or command.started_at >= since)
            and (not failed or command.exit_code not in (None, 0))
            and (text is None or text.lower() in (command.line or "").lower())
        ]
        return fits[-limit:]
