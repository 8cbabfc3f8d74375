"""A shell without marks: the refusal says so, and a person who sees its prompt may send."""

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import PaneForeground
from termvisor.actions.preconditions import find_failed_precondition
from termvisor.actions.prompt_check import assume_prompt
from termvisor.errors import NeedsApproval, StaleSnapshot
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.terminal.pane import InputState, PaneActivity
from termvisor.testing.fake_clock import NOON
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, GateScene, open_gate_scene
from tests.unit.actions.test_input_line import screen
from tests.unit.actions.test_preconditions import READY, VIEW, build_attempt, build_send_text
from tests.unit.wait_until import wait_until

SHELL = PaneForeground(group=7, is_shell=True)
UNMARKED = replace(
    READY,
    view=replace(VIEW, activity=PaneActivity()),
    input_place=InputState(),
    foreground=SHELL,
    pane_state=replace(screen("done", "me@host:~$ ", x=11, y=1), command="bash"),
)


def find_failure(snapshot=UNMARKED, *, at_prompt: bool = False, into: str = "prompt"):
    action = build_send_text("make test", at_prompt=at_prompt)
    return find_failed_precondition(assume_prompt(snapshot, action), build_attempt(action, into=into), NOON)


def show_rows(*rows: str):
    return replace(UNMARKED, pane_state=replace(screen(*rows, x=len(rows[-1]), y=len(rows) - 1), command="bash"))


def test_the_refusal_names_the_missing_marks_and_both_ways_out():
    failure = find_failure()
    assert (failure.why, failure.actual) == ("not_at_prompt", "unknown")
    error = failure.build_error()
    assert error.message.startswith("nothing was done: the shell of pane 1 (bash) sends no marks")
    assert "`visor setup shell`" in error.hint
    assert "`--at-prompt`" in error.hint


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"foreground": PaneForeground(group=8)}, "--program"),
        ({"view": replace(VIEW, activity=PaneActivity(kind="command", is_proven=True))}, "--command-finished"),
    ],
)
def test_another_program_is_named_with_what_helps_there(changes, words):
    failure = find_failure(replace(UNMARKED, **changes))
    assert (failure.why, words in failure.hint) == ("not_at_prompt", True)
    assert find_failure(replace(UNMARKED, **changes), at_prompt=True).why == "not_at_prompt"


@pytest.mark.parametrize(
    ("row", "is_accepted"),
    [
        ("me@host:~$ ", True),
        ("root@host:/# ", True),
        ("~/src main ✗ ", True),
        ("❯ ", True),
        ("me@host:~$ rm -rf build", False),
        ("me@host:~$ echo 1 > ", False),
        ("Password: ", False),
        ("", False),
    ],
)
def test_an_asserted_prompt_must_look_empty(row, is_accepted):
    failure = find_failure(show_rows("done", row), at_prompt=True)
    assert (failure.why if failure else None) == (None if is_accepted else "input_not_empty")


def test_a_draft_behind_the_cursor_is_not_an_empty_prompt():
    drafted = replace(UNMARKED, pane_state=replace(UNMARKED.pane_state, rows=("done", "me@host:~$ rm -rf build")))
    assert find_failure(drafted, at_prompt=True).why == "input_not_empty"


def test_a_prompt_before_a_program_is_not_called_typed_text():
    failure = find_failure(into="program")
    assert failure.why == "input_not_empty"
    assert "a prompt or typed text" in failure.text
    assert "without `--program`" in failure.hint


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def start_plain_bash(scene: GateScene) -> tuple[str, int]:
    mux_id = scene.tmux.open_window("work", "PS1='\\w me$ ' exec bash --noprofile --norc -i")
    number = await scene.wait_for_capture(mux_id)
    await wait_until(lambda: scene.capture_screen(mux_id).rstrip().endswith("me$"))
    return mux_id, number


async def test_a_person_sends_to_a_shell_without_marks_and_the_audit_log_says_so(scene):
    mux_id, pane = await start_plain_bash(scene)
    with pytest.raises(StaleSnapshot, match="sends no marks"):
        await scene.send(pane, "cd /tmp")
    # The next prompt has another width than the one that was seen.
    outcome = await scene.gate.run(SendText(pane=pane, text="cd /tmp", at_prompt=True), ME, Preconditions())
    assert (outcome.status, outcome.why) == ("delivered", "left_input")
    assert "/tmp me$" in scene.capture_screen(mux_id)
    entries = await scene.store.audit.list(limit=10)
    assert [entry.action["at_prompt"] for entry in entries if entry.correlation == outcome.correlation] == [True, True]


async def test_a_program_needs_approval_to_assert_a_prompt(scene):
    _, pane = await start_plain_bash(scene)
    with pytest.raises(NeedsApproval):
        action = SendText(pane=pane, text="true", at_prompt=True)
        await scene.gate.run(action, Actor(kind="robot", uid=1000, pid=1), Preconditions())
