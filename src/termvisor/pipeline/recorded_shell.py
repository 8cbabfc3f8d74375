"""Start a shell tracker with the state that a shell recorded before its output was captured. Pure."""

from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.terminal.shell_tracker import ShellTracker


def restore_tracker(recorded: RecordedShellState) -> ShellTracker:
    """Return a tracker to which the marks that led to this state were applied, with proof, at the time recorded."""
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
