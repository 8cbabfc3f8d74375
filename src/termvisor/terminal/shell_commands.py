"""Derive shell commands (started, finished or lost) from shell marks. Pure.

In: the accepted shell marks of one epoch in order (`activity.check_mark_proof`) and reported folders. Out: updates of
commands and the edges of their output. Invariant: the result depends only on the marks; ShellState is the whole state,
and its texts are redacted.

Shells may be nested. The mark of a prompt names its shell (``aid=``), those of commands need not. A shell that shows a
prompt or starts a command runs no other one: a command still running there, and all nested in it, ended without a mark.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.mark import Mark, MarkKind

MAX_SHELL_DEPTH = 8
"""Limit of nested shells; beyond it the outermost are abandoned."""


class RunningCommand(Struct, frozen=True, array_like=True):
    """A running command and its shell."""

    update: CommandUpdate
    shell: str = ""


class ShellState(Struct, frozen=True, array_like=True):
    """The state of a pane's shells. Stored by position: keep the order of the fields."""

    running: tuple[RunningCommand, ...] = ()
    """The running command of each shell, outermost first."""
    announced: str | None = None
    """The command line reported before its command starts."""
    is_announced_proven: bool = False
    shell: str = ""
    """The shell that showed the last prompt."""
    cwd: str | None = None


class ShellMark(Struct, frozen=True):
    """An accepted mark, its time, and whether it carried our nonce."""

    mark: Mark
    at: int
    is_proven: bool = False

    def get_shell(self, otherwise: str) -> str:
        return self.mark.params.get("aid", otherwise)


class ShellUpdate(Struct, frozen=True):
    """The new state, with command updates and output edges to store."""

    shells: ShellState
    commands: tuple[CommandUpdate, ...] = ()
    edges: tuple[CommandBoundary, ...] = ()


def apply_mark(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """Apply one shell mark."""
    handler = _MARK_HANDLERS.get(shell_mark.mark.kind)
    if handler is None:
        return ShellUpdate(state)
    # A command line has no row at which an output could end.
    if not shell_mark.is_proven or shell_mark.mark.kind == "command_line":
        return handler(state, shell_mark)
    proven_state, abandoned = _abandon_unproven(state, shell_mark.mark)
    after = handler(proven_state, shell_mark)
    return ShellUpdate(after.shells, abandoned.commands + after.commands, abandoned.edges + after.edges)


def apply_folder(state: ShellState, mark: Mark) -> ShellState:
    """Note the working directory a mark reports; it is not proven, any program can print it."""
    path = mark.text if mark.kind == "cwd" else mark.params.get("Cwd", "")
    return replace(state, cwd=path) if path else state


def finish_epoch(state: ShellState, offset: int) -> ShellUpdate:
    """Mark the running commands as lost at the end of the epoch."""
    return _abandon_commands(state, state.running, offset, offset)


def _handle_prompt(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    is_input = shell_mark.mark.kind == "input_start"
    shell = shell_mark.get_shell(state.shell if is_input else "")
    after = _abandon_shell(state, shell, shell_mark.mark)
    return replace(after, shells=replace(after.shells, shell=shell, announced=None))


def _handle_start(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    mark, shell = shell_mark.mark, shell_mark.get_shell(state.shell)
    after = _abandon_shell(state, shell, mark)
    if len(after.shells.running) >= MAX_SHELL_DEPTH:
        outermost = _abandon_commands(after.shells, after.shells.running[:1], mark.offset, mark.row)
        after = ShellUpdate(outermost.shells, after.commands + outermost.commands, after.edges + outermost.edges)
    announced = state.announced if state.is_announced_proven == shell_mark.is_proven else None
    command = CommandUpdate(
        start=mark.offset,
        started_at=shell_mark.at,
        line=mark.text or announced,
        cwd=state.cwd,
        is_proven=shell_mark.is_proven,
    )
    running = (*after.shells.running, RunningCommand(command, shell))
    return ShellUpdate(
        replace(after.shells, running=running, announced=None, shell=shell),
        (*after.commands, command),
        (*after.edges, CommandBoundary(command.start, mark.row, False)),
    )


def _handle_end(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """Finish a command; an end without a known start, such as an interrupted prompt, is ignored."""
    mark = shell_mark.mark
    index = _find_innermost(state.running, mark.params.get("aid"))
    if index is None:
        return ShellUpdate(replace(state, announced=None))
    ended, nested = state.running[index], state.running[index + 1 :]
    abandoned = _abandon_commands(state, nested, mark.offset, mark.row)
    command = replace(
        ended.update,
        ended_at=shell_mark.at,
        exit_code=mark.exit_code,
        end=mark.offset,
        is_proven=ended.update.is_proven and shell_mark.is_proven,
        status="finished",
    )
    return ShellUpdate(
        replace(state, running=state.running[:index], announced=None, shell=ended.shell),
        (*abandoned.commands, command),
        (*abandoned.edges, CommandBoundary(command.start, mark.row, True)),
    )


def _handle_line(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """Set the command line, which some shells report before the start of the command and some after it."""
    last = state.running[-1] if state.running else None
    if last is not None and last.shell == shell_mark.get_shell(state.shell) and _needs_line(last.update, shell_mark):
        command = replace(last.update, line=shell_mark.mark.text)
        return ShellUpdate(replace(state, running=(*state.running[:-1], replace(last, update=command))), (command,))
    return ShellUpdate(replace(state, announced=shell_mark.mark.text, is_announced_proven=shell_mark.is_proven))


def _needs_line(update: CommandUpdate, shell_mark: ShellMark) -> bool:
    return update.line is None and update.is_proven == shell_mark.is_proven


def _find_innermost(running: Sequence[RunningCommand], shell: str | None) -> int | None:
    """Return the index of the innermost command of a shell (None: of any shell)."""
    indexes = [index for index, command in enumerate(running) if shell in (None, command.shell)]
    return indexes[-1] if indexes else None


def _abandon_shell(state: ShellState, shell: str, mark: Mark) -> ShellUpdate:
    """Abandon the command of this shell and all nested in it."""
    first = next((index for index, command in enumerate(state.running) if command.shell == shell), len(state.running))
    return _abandon_commands(state, state.running[first:], mark.offset, mark.row)


def _abandon_unproven(state: ShellState, mark: Mark) -> tuple[ShellState, ShellUpdate]:
    """Abandon all unproven commands once a proven mark arrives."""
    unproven = tuple(command for command in state.running if not command.update.is_proven)
    after = _abandon_commands(state, unproven, mark.offset, mark.row) if unproven else ShellUpdate(state)
    return after.shells, after


def _abandon_commands(state: ShellState, lost: Sequence[RunningCommand], offset: int, row: int) -> ShellUpdate:
    updates = tuple(replace(command.update, end=offset, status="lost") for command in lost)
    running = tuple(command for command in state.running if command not in lost)
    edges = tuple(CommandBoundary(update.start, row, True) for update in updates)
    return ShellUpdate(replace(state, running=running), updates, edges)


_MARK_HANDLERS: dict[MarkKind, Callable[[ShellState, ShellMark], ShellUpdate]] = {
    "prompt_start": _handle_prompt,
    "input_start": _handle_prompt,
    "command_start": _handle_start,
    "command_end": _handle_end,
    "command_line": _handle_line,
}
