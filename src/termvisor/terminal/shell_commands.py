"""The marks of shells become commands: started, finished, or lost.

In: the shell's marks of one epoch that are believed, in order (`activity.belief`), and the folders it tells. Out: what
is known of each command after each mark, and the edges of its output. Invariant: what is told depends on the marks
only; `Shells` is all that must be remembered, and it holds no text but what is redacted already.

Shells may be nested. The mark of a prompt names its shell (``aid=``), those of its commands need not. A shell that
shows a prompt or starts a command has no other one running: the end of that one, and of all in it, was never told.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.mark import Mark, MarkKind

MAX_SHELL_DEPTH = 8
"""Shells within each other that are followed; the outermost are given up beyond that."""


class RunningCommand(Struct, frozen=True, array_like=True):
    """A command that has not ended, and the shell that runs it."""

    update: CommandUpdate
    shell: str = ""


class ShellState(Struct, frozen=True, array_like=True):
    """What must be remembered of the shells of a pane."""

    running: tuple[RunningCommand, ...] = ()
    """The command of each shell, outermost first."""
    announced: str | None = None
    """The line of a command that has not started yet."""
    is_announced_proven: bool = False
    shell: str = ""
    """Which one showed the last prompt."""
    cwd: str | None = None


class ShellMark(Struct, frozen=True):
    """A believed mark, when it came, and whether it carried our nonce."""

    mark: Mark
    at: int
    is_proven: bool = False

    def get_shell(self, otherwise: str) -> str:
        return self.mark.params.get("aid", otherwise)


class ShellUpdate(Struct, frozen=True):
    """What is to be remembered, and what became known."""

    shells: ShellState
    commands: tuple[CommandUpdate, ...] = ()
    edges: tuple[CommandBoundary, ...] = ()


def apply_mark(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """What is known after this mark."""
    act = _MARK_HANDLERS.get(shell_mark.mark.kind)
    if act is None:
        return ShellUpdate(state)
    if not shell_mark.is_proven or shell_mark.mark.kind == "command_line":  # a line has no row to end an output at
        return act(state, shell_mark)
    proven, forgotten = _abandon_unproven(state, shell_mark.mark)
    after = act(proven, shell_mark)
    return ShellUpdate(after.shells, forgotten.commands + after.commands, forgotten.edges + after.edges)


def apply_folder(state: ShellState, mark: Mark) -> ShellState:
    """Where the shell is, as it or anybody else says: no proof is asked for, and none is claimed."""
    path = mark.text if mark.kind == "cwd" else mark.params.get("Cwd", "")
    return replace(state, cwd=path) if path else state


def finish_epoch(state: ShellState, offset: int) -> ShellUpdate:
    """The epoch is over: what runs is lost."""
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
    told = CommandUpdate(
        start=mark.offset,
        started_at=shell_mark.at,
        line=mark.text or announced,
        cwd=state.cwd,
        is_proven=shell_mark.is_proven,
    )
    running = (*after.shells.running, RunningCommand(told, shell))
    return ShellUpdate(
        replace(after.shells, running=running, announced=None, shell=shell),
        (*after.commands, told),
        (*after.edges, CommandBoundary(told.start, mark.row, False)),
    )


def _handle_end(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """The end of a command that was not heard to start, such as an interrupted prompt, tells nothing."""
    mark = shell_mark.mark
    at = _find_innermost(state.running, mark.params.get("aid"))
    if at is None:
        return ShellUpdate(replace(state, announced=None))
    ended, within = state.running[at], state.running[at + 1 :]
    lost = _abandon_commands(state, within, mark.offset, mark.row)
    told = replace(
        ended.update,
        ended_at=shell_mark.at,
        exit_code=mark.exit_code,
        end=mark.offset,
        is_proven=ended.update.is_proven and shell_mark.is_proven,
        status="finished",
    )
    return ShellUpdate(
        replace(state, running=state.running[:at], announced=None, shell=ended.shell),
        (*lost.commands, told),
        (*lost.edges, CommandBoundary(told.start, mark.row, True)),
    )


def _handle_line(state: ShellState, shell_mark: ShellMark) -> ShellUpdate:
    """Some shells tell the line before the start of the command, some after it."""
    last = state.running[-1] if state.running else None
    if last is not None and last.shell == shell_mark.get_shell(state.shell) and _needs_line(last.update, shell_mark):
        told = replace(last.update, line=shell_mark.mark.text)
        return ShellUpdate(replace(state, running=(*state.running[:-1], replace(last, update=told))), (told,))
    return ShellUpdate(replace(state, announced=shell_mark.mark.text, is_announced_proven=shell_mark.is_proven))


def _needs_line(update: CommandUpdate, shell_mark: ShellMark) -> bool:
    return update.line is None and update.is_proven == shell_mark.is_proven


def _find_innermost(running: Sequence[RunningCommand], shell: str | None) -> int | None:
    """Which command ends when this shell says so; an end without a name is that of the innermost."""
    fitting = [at for at, one in enumerate(running) if shell in (None, one.shell)]
    return fitting[-1] if fitting else None


def _abandon_shell(state: ShellState, shell: str, mark: Mark) -> ShellUpdate:
    """What this shell ran, and what ran within that, is over."""
    first = next((at for at, one in enumerate(state.running) if one.shell == shell), len(state.running))
    return _abandon_commands(state, state.running[first:], mark.offset, mark.row)


def _abandon_unproven(state: ShellState, mark: Mark) -> tuple[ShellState, ShellUpdate]:
    """Once there is proof, nothing is heard any more of what was not proven."""
    unproven = tuple(one for one in state.running if not one.update.is_proven)
    after = _abandon_commands(state, unproven, mark.offset, mark.row) if unproven else ShellUpdate(state)
    return after.shells, after


def _abandon_commands(state: ShellState, lost: Sequence[RunningCommand], offset: int, row: int) -> ShellUpdate:
    told = tuple(replace(one.update, end=offset, status="lost") for one in lost)
    kept = tuple(one for one in state.running if one not in lost)
    return ShellUpdate(replace(state, running=kept), told, tuple(CommandBoundary(one.start, row, True) for one in told))


_MARK_HANDLERS: dict[MarkKind, Callable[[ShellState, ShellMark], ShellUpdate]] = {
    "prompt_start": _handle_prompt,
    "input_start": _handle_prompt,
    "command_start": _handle_start,
    "command_end": _handle_end,
    "command_line": _handle_line,
}
