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

from termvisor.model.terminal.command import CommandTold, Edge
from termvisor.model.terminal.mark import Mark, MarkKind

DEPTH = 8
"""Shells within each other that are followed; the outermost are given up beyond that."""


class Running(Struct, frozen=True, array_like=True):
    """A command that has not ended, and the shell that runs it."""

    told: CommandTold
    shell: str = ""


class Shells(Struct, frozen=True, array_like=True):
    """What must be remembered of the shells of a pane."""

    running: tuple[Running, ...] = ()
    """The command of each shell, outermost first."""
    announced: str | None = None
    """The line of a command that has not started yet."""
    is_announced_proven: bool = False
    shell: str = ""
    """Which one showed the last prompt."""
    cwd: str | None = None


class Heard(Struct, frozen=True):
    """A believed mark, when it came, and whether it carried our nonce."""

    mark: Mark
    at: int
    is_proven: bool = False

    def shell(self, otherwise: str) -> str:
        return self.mark.params.get("aid", otherwise)


class Happened(Struct, frozen=True):
    """What is to be remembered, and what became known."""

    shells: Shells
    told: tuple[CommandTold, ...] = ()
    edges: tuple[Edge, ...] = ()


def hear(shells: Shells, heard: Heard) -> Happened:
    """What is known after this mark."""
    act = _ACTS.get(heard.mark.kind)
    if act is None:
        return Happened(shells)
    if not heard.is_proven or heard.mark.kind == "command_line":  # a line has no row to end an output at
        return act(shells, heard)
    proven, forgotten = _forget_unproven(shells, heard.mark)
    after = act(proven, heard)
    return Happened(after.shells, forgotten.told + after.told, forgotten.edges + after.edges)


def hear_folder(shells: Shells, mark: Mark) -> Shells:
    """Where the shell is, as it or anybody else says: no proof is asked for, and none is claimed."""
    path = mark.text if mark.kind == "cwd" else mark.params.get("Cwd", "")
    return replace(shells, cwd=path) if path else shells


def finish(shells: Shells, offset: int) -> Happened:
    """The epoch is over: what runs is lost."""
    return _give_up(shells, shells.running, offset, offset)


def _prompt(shells: Shells, heard: Heard) -> Happened:
    is_input = heard.mark.kind == "input_start"
    shell = heard.shell(shells.shell if is_input else "")
    after = _give_up_within(shells, shell, heard.mark)
    return replace(after, shells=replace(after.shells, shell=shell, announced=None))


def _started(shells: Shells, heard: Heard) -> Happened:
    mark, shell = heard.mark, heard.shell(shells.shell)
    after = _give_up_within(shells, shell, mark)
    if len(after.shells.running) >= DEPTH:
        outermost = _give_up(after.shells, after.shells.running[:1], mark.offset, mark.row)
        after = Happened(outermost.shells, after.told + outermost.told, after.edges + outermost.edges)
    announced = shells.announced if shells.is_announced_proven == heard.is_proven else None
    told = CommandTold(
        start=mark.offset,
        started_at=heard.at,
        line=mark.text or announced,
        cwd=shells.cwd,
        is_proven=heard.is_proven,
    )
    running = (*after.shells.running, Running(told, shell))
    return Happened(
        replace(after.shells, running=running, announced=None, shell=shell),
        (*after.told, told),
        (*after.edges, Edge(told.start, mark.row, False)),
    )


def _ended(shells: Shells, heard: Heard) -> Happened:
    """The end of a command that was not heard to start, such as an interrupted prompt, tells nothing."""
    mark = heard.mark
    at = _innermost(shells.running, mark.params.get("aid"))
    if at is None:
        return Happened(replace(shells, announced=None))
    ended, within = shells.running[at], shells.running[at + 1 :]
    lost = _give_up(shells, within, mark.offset, mark.row)
    told = replace(
        ended.told,
        ended_at=heard.at,
        exit_code=mark.exit_code,
        end=mark.offset,
        is_proven=ended.told.is_proven and heard.is_proven,
        status="finished",
    )
    return Happened(
        replace(shells, running=shells.running[:at], announced=None, shell=ended.shell),
        (*lost.told, told),
        (*lost.edges, Edge(told.start, mark.row, True)),
    )


def _line(shells: Shells, heard: Heard) -> Happened:
    """Some shells tell the line before the start of the command, some after it."""
    last = shells.running[-1] if shells.running else None
    if last is not None and last.shell == heard.shell(shells.shell) and _misses_line(last.told, heard):
        told = replace(last.told, line=heard.mark.text)
        return Happened(replace(shells, running=(*shells.running[:-1], replace(last, told=told))), (told,))
    return Happened(replace(shells, announced=heard.mark.text, is_announced_proven=heard.is_proven))


def _misses_line(told: CommandTold, heard: Heard) -> bool:
    return told.line is None and told.is_proven == heard.is_proven


def _innermost(running: Sequence[Running], shell: str | None) -> int | None:
    """Which command ends when this shell says so; an end without a name is that of the innermost."""
    fitting = [at for at, one in enumerate(running) if shell in (None, one.shell)]
    return fitting[-1] if fitting else None


def _give_up_within(shells: Shells, shell: str, mark: Mark) -> Happened:
    """What this shell ran, and what ran within that, is over."""
    first = next((at for at, one in enumerate(shells.running) if one.shell == shell), len(shells.running))
    return _give_up(shells, shells.running[first:], mark.offset, mark.row)


def _forget_unproven(shells: Shells, mark: Mark) -> tuple[Shells, Happened]:
    """Once there is proof, nothing is heard any more of what was not proven."""
    unproven = tuple(one for one in shells.running if not one.told.is_proven)
    after = _give_up(shells, unproven, mark.offset, mark.row) if unproven else Happened(shells)
    return after.shells, after


def _give_up(shells: Shells, lost: Sequence[Running], offset: int, row: int) -> Happened:
    told = tuple(replace(one.told, end=offset, status="lost") for one in lost)
    kept = tuple(one for one in shells.running if one not in lost)
    return Happened(replace(shells, running=kept), told, tuple(Edge(one.start, row, True) for one in told))


_ACTS: dict[MarkKind, Callable[[Shells, Heard], Happened]] = {
    "prompt_start": _prompt,
    "input_start": _prompt,
    "command_start": _started,
    "command_end": _ended,
    "command_line": _line,
}
