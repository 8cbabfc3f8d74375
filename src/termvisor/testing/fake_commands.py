"""A fake history of shell commands for tests of operations."""

from typing import Literal

from msgspec.structs import replace

from termvisor.model.ids import CommandId, EpochId, PaneId
from termvisor.model.terminal.command import ShellCommand


class FakeCommands:
    def __init__(self) -> None:
        self.stored_commands: list[ShellCommand] = []

    def start_command(self, pane: PaneId, line: str | None, at: int, first_line: int) -> ShellCommand:
        """Simulate the start of a command whose output begins at ``first_line``."""
        number = len(self.stored_commands) + 1
        command = ShellCommand(
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
        self.stored_commands.append(command)
        return command

    def end_command(self, pane: PaneId, exit_code: int | None, at: int, last_line: int) -> ShellCommand:
        """Simulate the end of the pane's running command; without an exit code its status is `lost`."""
        index = max(index for index, command in enumerate(self.stored_commands) if command.pane == pane)
        command = self.stored_commands[index]
        ended = replace(command, end=command.start + 50, last_line=last_line, status="lost")
        if exit_code is not None:
            ended = replace(ended, ended_at=at, exit_code=exit_code, status="finished")
        self.stored_commands[index] = ended
        return ended

    async def find(self, pane: PaneId, which: CommandId | Literal["last"]) -> ShellCommand | None:
        matches = [
            command for command in self.stored_commands if command.pane == pane and which in ("last", command.id)
        ]
        return matches[-1] if matches else None

    async def find_after_line(self, pane: PaneId, line: int) -> ShellCommand | None:
        return next(
            (command for command in self.stored_commands if command.pane == pane and command.first_line > line), None
        )

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[ShellCommand]:
        matches = [
            command
            for command in self.stored_commands
            if pane in (None, command.pane)
            and (since is None or command.started_at >= since)
            and (not failed or command.exit_code not in (None, 0))
            and (text is None or text.lower() in (command.line or "").lower())
        ]
        return matches[-limit:]
