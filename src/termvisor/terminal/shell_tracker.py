"""Derive a pane's activity, its shell commands (started, finished, lost) and their output from marks. Pure.

In: the marks of one epoch in order, and the lines they are anchored to. Out: the activity (at a prompt, running a
command, on the alternate screen, or unknown), and updates of commands with the bounds of their output. Invariant: the
result depends only on the input. ActivityState and ShellCommandsState are the whole state; their texts are redacted.

Any program can print shell marks. Only a mark with our nonce is proven. Once a pane has shown our nonce, shell marks
without it are ignored, so that printing a hostile file cannot fake a prompt or an exit status.

Shells may be nested. The mark of a prompt names its shell (``aid=``); those of commands need not. A shell that shows a
prompt or starts a command runs no other: any command still open there, and all nested in it, ended without a mark.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import Mark, MarkKind
from termvisor.model.terminal.pane import InputState, PaneActivity
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.terminal.row_window import LineAnchor

MAX_SHELL_DEPTH = 8
"""Maximum nesting of shells. Beyond it the outermost are abandoned."""
MAX_UNCERTAIN_EDGES = 64
"""Limit for output that consists only of marks. Older edges keep their stored estimate."""


class ActivityState(Struct, frozen=True, kw_only=True):
    """The activity and the state needed to follow it. Field names are stored in the database."""

    activity: PaneActivity = PaneActivity()
    behind: PaneActivity | None = None
    """The activity when the alternate screen was entered."""
    command_line: str | None = None
    """The command line, if reported before its command starts."""
    has_nonce: bool = False
    place: InputState = InputState()


class RunningCommand(Struct, frozen=True, array_like=True):
    """A running command and its shell."""

    update: CommandUpdate
    shell: str = ""


class ShellState(Struct, frozen=True, array_like=True):
    """The state of a pane's shells. Stored by position: keep the order of the fields."""

    running: tuple[RunningCommand, ...] = ()
    """The running command of each shell, outermost first."""
    announced: str | None = None
    """The command line, if reported before its command starts."""
    is_announced_proven: bool = False
    shell: str = ""
    """The shell that showed the last prompt."""
    cwd: str | None = None


class ShellCommandsState(Struct, frozen=True, array_like=True):
    """The state of the commands, and the edges of output that are not certain yet. Stored by position."""

    shells: ShellState = ShellState()
    edges: tuple[CommandBoundary, ...] = ()


class ShellTracker:
    """Tracker of one epoch's marks; ``nonce`` is the nonce given to its shell.

    The first or last line of a command's output is certain once the line that its mark is anchored to is final. Until
    then the edge is kept and reported with an estimate, so that every command has line numbers at each commit. The
    ``row`` of an edge is the offset of its mark.
    """

    def __init__(
        self, nonce: str | None, activity: ActivityState | None = None, commands: ShellCommandsState | None = None
    ):
        self._nonce = nonce
        self.activity_state = activity or ActivityState()
        commands = commands or ShellCommandsState()
        self._shells, self._edges = commands.shells, commands.edges
        self._updates: dict[int, CommandUpdate] = {}
        self._certain_edges: list[tuple[CommandBoundary, int]] = []
        self._estimates: dict[int, int] = {}
        self.command_times: dict[str, int] = {}
        """Time of the last command start with our nonce since this tracker was created, by the shell that it names."""

    @property
    def commands_state(self) -> ShellCommandsState:
        return ShellCommandsState(self._shells, self._edges)

    def apply_mark(self, mark: Mark, at: int) -> None:
        """Apply one mark, read at time ``at``."""
        if mark.kind in _SCREEN_HANDLERS:
            self.activity_state = _SCREEN_HANDLERS[mark.kind](self.activity_state, at)
        elif mark.kind in ("cwd", "prompt_property"):
            # Never proven, because any program can print a folder.
            path = mark.text if mark.kind == "cwd" else mark.params.get("Cwd", "")
            self._shells = replace(self._shells, cwd=path) if path else self._shells
        elif mark.kind in _SHELL_HANDLERS:
            is_proven = self._nonce is not None and mark.params.get("nonce") == self._nonce
            if is_proven:
                self._accept_proof(mark, at)
            # Once the pane has shown our nonce, only proven marks count.
            if is_proven or not self.activity_state.has_nonce:
                _SHELL_HANDLERS[mark.kind](self, mark, at, is_proven)

    def resolve_edges(self, final: Sequence[LineAnchor], current: Sequence[LineAnchor], first_index: int) -> None:
        """Assign lines to edges: anchors that became ``final``, and those that may still change.

        ``first_index`` is the index of the first line since the last take_updates(). An edge without an anchor keeps
        its stored estimate.
        """
        if not self._edges:
            return
        lines = {anchor.mark: anchor.line - first_index for anchor in final}
        self._certain_edges += [(edge, lines[edge.row]) for edge in self._edges if edge.row in lines]
        self._edges = tuple(edge for edge in self._edges if edge.row not in lines)
        self._estimates = {anchor.mark: anchor.line - first_index for anchor in current}

    def finish(self, offset: int) -> None:
        """Mark the running commands as lost at the end of the epoch."""
        self._abandon(self._shells.running, offset)

    def take_updates(self) -> tuple[tuple[CommandUpdate, ...], tuple[tuple[CommandBoundary, int], ...]]:
        """Return the commands and edges to store since the last call, with the number of lines before each edge."""
        estimates = self._estimates
        estimated = [(edge, estimates[edge.row]) for edge in self._edges if edge.row in estimates]
        updates = tuple(self._updates.values()), (*self._certain_edges, *estimated)
        self._updates, self._certain_edges, self._estimates = {}, [], {}
        return updates

    def _accept_proof(self, mark: Mark, at: int) -> None:
        """Drop what unproven marks reported before, because a program may have forged them."""
        if not self.activity_state.has_nonce:
            self.activity_state = replace(self.activity_state, has_nonce=True, command_line=None)
        # A command-line mark is not anchored to a line at which output could end.
        if mark.kind != "command_line":
            unproven = [command for command in self._shells.running if not command.update.is_proven]
            self._abandon(unproven, mark.offset)
        if mark.kind == "command_start":
            self._note_command(mark.params.get("aid", ""), at)

    def _note_command(self, shell: str, at: int) -> None:
        self.command_times.pop(shell, None)
        self.command_times[shell] = at
        if len(self.command_times) > MAX_SHELL_DEPTH:
            del self.command_times[next(iter(self.command_times))]

    def _enter_prompt(self, mark: Mark, at: int, is_proven: bool) -> None:
        is_input = mark.kind == "input_start"
        shell = mark.params.get("aid", self._shells.shell if is_input else "")
        self._abandon_shell(shell, mark)
        self._shells = replace(self._shells, shell=shell, announced=None)
        now, place = self.activity_state.activity, self.activity_state.place
        since = now.since if now.kind == "prompt" else at
        prompt = PaneActivity(kind="prompt", since=since, last_exit=now.last_exit, is_proven=is_proven)
        place = replace(place, column=mark.column) if is_input else place
        self.activity_state = replace(self.activity_state, activity=prompt, behind=None, place=place)

    def _start_command(self, mark: Mark, at: int, is_proven: bool) -> None:
        shell = mark.params.get("aid", self._shells.shell)
        self._abandon_shell(shell, mark)
        if len(self._shells.running) >= MAX_SHELL_DEPTH:
            self._abandon(self._shells.running[:1], mark.offset)
        announced = self._shells.announced if self._shells.is_announced_proven == is_proven else None
        line, cwd = mark.text or announced, self._shells.cwd
        update = CommandUpdate(start=mark.offset, started_at=at, line=line, cwd=cwd, is_proven=is_proven)
        running = (*self._shells.running, RunningCommand(update, shell))
        self._shells = replace(self._shells, running=running, announced=None, shell=shell)
        self._report(update)
        self._add_edge(update, mark.offset, is_end=False)
        state = self.activity_state
        activity = PaneActivity(
            kind="command", since=at, command_line=mark.text or state.command_line, is_proven=is_proven
        )
        place = replace(state.place, column=None)
        self.activity_state = replace(state, activity=activity, behind=None, command_line=None, place=place)

    def _end_command(self, mark: Mark, at: int, is_proven: bool) -> None:
        """Finish a command. An end without a known start, such as after an interrupted prompt, is ignored."""
        activity = PaneActivity(kind="prompt", since=at, last_exit=mark.exit_code, is_proven=is_proven)
        self.activity_state = replace(self.activity_state, activity=activity, behind=None, command_line=None)
        running, shell = self._shells.running, mark.params.get("aid")
        indexes = [index for index, command in enumerate(running) if shell in (None, command.shell)]
        self._shells = replace(self._shells, announced=None)
        if not indexes:
            return
        ended = running[indexes[-1]]
        self._abandon(running[indexes[-1] + 1 :], mark.offset)
        update = replace(
            ended.update,
            ended_at=at,
            exit_code=mark.exit_code,
            end=mark.offset,
            is_proven=ended.update.is_proven and is_proven,
            status="finished",
        )
        self._shells = replace(self._shells, running=running[: indexes[-1]], shell=ended.shell)
        self._report(update)
        self._add_edge(update, mark.offset, is_end=True)

    def _set_command_line(self, mark: Mark, _at: int, is_proven: bool) -> None:
        """Set the command line, which some shells report before the start of the command and others after it."""
        now, shells = self.activity_state.activity, self._shells
        if now.kind == "command" and now.command_line is None and now.is_proven == is_proven:
            self.activity_state = replace(self.activity_state, activity=replace(now, command_line=mark.text))
        else:
            self.activity_state = replace(self.activity_state, command_line=mark.text)
        last = shells.running[-1] if shells.running else None
        is_same_shell = last is not None and last.shell == mark.params.get("aid", shells.shell)
        if last is not None and is_same_shell and last.update.line is None and last.update.is_proven == is_proven:
            update = replace(last.update, line=mark.text)
            self._shells = replace(shells, running=(*shells.running[:-1], replace(last, update=update)))
            self._report(update)
        else:
            self._shells = replace(shells, announced=mark.text, is_announced_proven=is_proven)

    def _abandon_shell(self, shell: str, mark: Mark) -> None:
        """Abandon the command of this shell and all nested in it."""
        running = self._shells.running
        first = next((index for index, command in enumerate(running) if command.shell == shell), len(running))
        self._abandon(running[first:], mark.offset)

    def _abandon(self, lost: Sequence[RunningCommand], offset: int) -> None:
        running = tuple(command for command in self._shells.running if command not in lost)
        self._shells = replace(self._shells, running=running)
        for command in lost:
            update = replace(command.update, end=offset, status="lost")
            self._report(update)
            self._add_edge(update, offset, is_end=True)

    def _report(self, update: CommandUpdate) -> None:
        self._updates[update.start] = update

    def _add_edge(self, update: CommandUpdate, offset: int, *, is_end: bool) -> None:
        edge = CommandBoundary(update.start, offset, is_end)
        self._edges = (*self._edges, edge)[-MAX_UNCERTAIN_EDGES:]


def enter_alternate_screen(state: ActivityState, at: int) -> ActivityState:
    if state.activity.kind == "alt_screen":
        return state
    return replace(state, activity=PaneActivity(kind="alt_screen", since=at), behind=state.activity)


def _leave_alternate_screen(state: ActivityState, at: int) -> ActivityState:
    """Return to the command that ran before. A prompt from before is not trusted; the shell paints a new one."""
    if state.activity.kind != "alt_screen":
        return state
    behind = state.behind
    was_running = behind is not None and behind.kind == "command"
    return replace(state, activity=behind if was_running else PaneActivity(since=at), behind=None)


def _reset_activity(state: ActivityState, at: int) -> ActivityState:
    return replace(state, activity=PaneActivity(since=at), behind=None, command_line=None, place=InputState())


def _build_paste_handler(is_on: bool) -> Callable[[ActivityState, int], ActivityState]:
    return lambda state, _at: replace(state, place=replace(state.place, is_paste_on=is_on))


_SCREEN_HANDLERS: dict[MarkKind, Callable[[ActivityState, int], ActivityState]] = {
    "alt_screen_on": enter_alternate_screen,
    "alt_screen_off": _leave_alternate_screen,
    "reset": _reset_activity,
    "paste_on": _build_paste_handler(True),
    "paste_off": _build_paste_handler(False),
}
_SHELL_HANDLERS: dict[MarkKind, Callable[[ShellTracker, Mark, int, bool], None]] = {
    "prompt_start": ShellTracker._enter_prompt,
    "input_start": ShellTracker._enter_prompt,
    "command_start": ShellTracker._start_command,
    "command_end": ShellTracker._end_command,
    "command_line": ShellTracker._set_command_line,
}


def restore_tracker(recorded: RecordedShellState) -> ShellTracker:
    """Return a tracker with the state that a shell recorded before its output was captured.

    The marks that led to this state are applied, with proof, at the time recorded.
    """
    tracker = ShellTracker(nonce=recorded.shell)
    params = {"aid": recorded.shell, "nonce": recorded.shell}
    marks: list[Mark] = []
    if recorded.cwd is not None:
        marks.append(Mark(kind="cwd", offset=0, text=recorded.cwd))
    if recorded.last_exit is not None:
        marks.append(Mark(kind="command_end", offset=0, exit_code=recorded.last_exit, params=params))
    marks.append(Mark(kind="prompt_start" if recorded.kind == "prompt" else "command_start", offset=0, params=params))
    if recorded.input_column is not None:
        marks.append(Mark(kind="input_start", offset=0, column=recorded.input_column, params=params))
    for mark in marks:
        tracker.apply_mark(mark, recorded.at)
    return tracker
