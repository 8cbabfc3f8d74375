from termvisor.model.terminal.output import Mark
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.terminal.shell_tracker import ShellTracker, restore_tracker

PROMPT = RecordedShellState(kind="prompt", shell="7", at=100, last_exit=3, cwd="/srv", input_column=6)
COMMAND = RecordedShellState(kind="command", shell="7", at=100, last_exit=0, cwd="/srv")


def continue_tracker(recorded: RecordedShellState) -> ShellTracker:
    """Return the tracker of the epoch that begins with a recorded state."""
    restored = restore_tracker(recorded)
    return ShellTracker("nonce", restored.activity_state, restored.commands_state)


def build_mark(kind: str, **fields: object) -> Mark:
    return Mark(kind=kind, offset=50, row=50, params={"aid": "7", "nonce": "nonce"}, **fields)


def test_a_recorded_prompt_counts_like_a_proven_mark() -> None:
    tracker = continue_tracker(PROMPT)
    assert tracker.activity_state.activity == PaneActivity(kind="prompt", since=100, last_exit=3, is_proven=True)
    assert tracker.activity_state.place.column == 6
    tracker.apply_mark(Mark(kind="command_start", offset=10), 110)
    assert tracker.activity_state.activity.kind == "prompt"


def test_the_first_command_has_the_recorded_folder() -> None:
    tracker = continue_tracker(PROMPT)
    tracker.apply_mark(build_mark("command_start", text="ls"), 110)
    ((command,), _) = tracker.take_updates()
    assert (command.line, command.cwd, command.is_proven) == ("ls", "/srv", True)


def test_a_recorded_command_ends_with_its_status() -> None:
    tracker = continue_tracker(COMMAND)
    assert tracker.activity_state.activity == PaneActivity(kind="command", since=100, is_proven=True)
    tracker.apply_mark(build_mark("command_end", exit_code=4), 110)
    ((command,), _) = tracker.take_updates()
    assert (command.start, command.started_at, command.cwd) == (0, 100, "/srv")
    assert (command.status, command.exit_code, command.is_proven) == ("finished", 4, True)


def test_without_a_column_the_place_of_the_input_is_unknown() -> None:
    tracker = continue_tracker(RecordedShellState(kind="prompt", shell="7", at=100))
    assert tracker.activity_state.activity == PaneActivity(kind="prompt", since=100, is_proven=True)
    assert tracker.activity_state.place.column is None
