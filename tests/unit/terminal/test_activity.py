"""Derive the activity of a pane from marks."""

import pytest

from termvisor.model.terminal.output import Mark, MarkKind
from termvisor.model.terminal.pane import PaneActivity
from termvisor.terminal.shell_tracker import ActivityState, ShellTracker

NONCE = "5eed"


def build_mark(kind: MarkKind, text: str = "", exit_code: int | None = None, nonce: str | None = None) -> Mark:
    return Mark(kind=kind, offset=1, text=text, exit_code=exit_code, params={} if nonce is None else {"nonce": nonce})


def build_proven_mark(kind: MarkKind, text: str = "", exit_code: int | None = None) -> Mark:
    return build_mark(kind, text, exit_code, NONCE)


def compute_activity(*marks: Mark, nonce: str | None = NONCE) -> PaneActivity:
    """Return the activity after these marks, which have the times 1, 2, ..."""
    shells = ShellTracker(nonce)
    for at, mark in enumerate(marks, 1):
        shells.apply_mark(mark, at)
    return shells.activity_state.activity


CONVERSATIONS: list[tuple[str, list[Mark], PaneActivity]] = [
    ("silence", [], PaneActivity()),
    ("a prompt", [build_mark("prompt_start"), build_mark("input_start")], PaneActivity(kind="prompt", since=1)),
    (
        "a command with its line",
        [build_mark("prompt_start"), build_mark("command_line", "make"), build_mark("command_start")],
        PaneActivity(kind="command", since=3, command_line="make"),
    ),
    (
        "a command line with the start",
        [build_mark("command_line", "old"), build_mark("command_start", "make")],
        PaneActivity(kind="command", since=2, command_line="make"),
    ),
    (
        "a command line after the start",
        [build_mark("command_start"), build_mark("command_line", "make")],
        PaneActivity(kind="command", since=1, command_line="make"),
    ),
    (
        "a line is for one command only",
        [
            build_mark("command_line", "make"),
            build_mark("command_start"),
            build_mark("command_end"),
            build_mark("command_start"),
        ],
        PaneActivity(kind="command", since=4),
    ),
    (
        "an ended command",
        [build_mark("command_start"), build_mark("command_end", exit_code=2)],
        PaneActivity(kind="prompt", since=2, last_exit=2),
    ),
    (
        "a prompt keeps the status",
        [
            build_mark("command_start"),
            build_mark("command_end", exit_code=2),
            build_mark("prompt_start"),
            build_mark("input_start"),
        ],
        PaneActivity(kind="prompt", since=2, last_exit=2),
    ),
    ("an editor", [build_mark("command_start"), build_mark("alt_screen_on")], PaneActivity(kind="alt_screen", since=2)),
    (
        "an editor that was left",
        [build_mark("command_start", "vi"), build_mark("alt_screen_on"), build_mark("alt_screen_off")],
        PaneActivity(kind="command", since=1, command_line="vi"),
    ),
    (
        "what was before is not known",
        [build_mark("alt_screen_on"), build_mark("alt_screen_off")],
        PaneActivity(since=2),
    ),
    (
        "a prompt behind the alternate screen is not trusted",
        [build_mark("prompt_start"), build_mark("alt_screen_on"), build_mark("alt_screen_off")],
        PaneActivity(since=3),
    ),
    (
        "entering twice",
        [
            build_mark("command_start"),
            build_mark("alt_screen_on"),
            build_mark("alt_screen_on"),
            build_mark("alt_screen_off"),
        ],
        PaneActivity(kind="command", since=1),
    ),
    (
        "leaving what was not entered",
        [build_mark("prompt_start"), build_mark("alt_screen_off")],
        PaneActivity(kind="prompt", since=1),
    ),
    (
        "a program that died in the alternate screen",
        [
            build_mark("command_start"),
            build_mark("alt_screen_on"),
            build_mark("command_end", exit_code=137),
            build_mark("alt_screen_off"),
        ],
        PaneActivity(kind="prompt", since=3, last_exit=137),
    ),
    ("a reset", [build_mark("prompt_start"), build_mark("reset")], PaneActivity(since=2)),
    (
        "other marks",
        [build_mark("prompt_start"), build_mark("title", "x"), build_mark("bell")],
        PaneActivity(kind="prompt", since=1),
    ),
    ("a proven prompt", [build_proven_mark("prompt_start")], PaneActivity(kind="prompt", since=1, is_proven=True)),
    (
        "a proven status",
        [
            build_proven_mark("command_line", "make"),
            build_proven_mark("command_start"),
            build_proven_mark("command_end", exit_code=0),
        ],
        PaneActivity(kind="prompt", since=3, last_exit=0, is_proven=True),
    ),
    (
        "a proven command behind an editor is still proven",
        [build_proven_mark("command_start", "vi"), build_mark("alt_screen_on"), build_mark("alt_screen_off")],
        PaneActivity(kind="command", since=1, command_line="vi", is_proven=True),
    ),
    ("a wrong nonce", [build_mark("prompt_start", nonce="beef")], PaneActivity(kind="prompt", since=1)),
    (
        "a forged end",
        [
            build_proven_mark("command_start", "cat evil"),
            build_mark("command_end", exit_code=0),
            build_mark("prompt_start", nonce="beef"),
        ],
        PaneActivity(kind="command", since=1, command_line="cat evil", is_proven=True),
    ),
    (
        "a forged command line",
        [build_proven_mark("prompt_start"), build_mark("command_line", "rm -rf /"), build_proven_mark("command_start")],
        PaneActivity(kind="command", since=3, is_proven=True),
    ),
    (
        "a line forged before the first proof",
        [build_mark("command_line", "rm -rf /"), build_proven_mark("command_start")],
        PaneActivity(kind="command", since=2, is_proven=True),
    ),
    (
        "a forged prompt after a reset",
        [build_proven_mark("command_start", "cat evil"), build_mark("reset"), build_mark("prompt_start")],
        PaneActivity(since=2),
    ),
    (
        "a forged prompt in the alternate screen",
        [
            build_proven_mark("command_start", "less"),
            build_mark("alt_screen_on"),
            build_mark("prompt_start"),
            build_mark("alt_screen_off"),
        ],
        PaneActivity(kind="command", since=1, command_line="less", is_proven=True),
    ),
]


@pytest.mark.parametrize(
    ("marks", "expected"), [case[1:] for case in CONVERSATIONS], ids=[case[0] for case in CONVERSATIONS]
)
def test_marks_determine_the_activity(marks: list[Mark], expected: PaneActivity) -> None:
    assert compute_activity(*marks) == expected


def test_without_a_nonce_no_mark_is_proven() -> None:
    assert compute_activity(build_proven_mark("prompt_start"), build_mark("command_start"), nonce=None) == PaneActivity(
        kind="command", since=2
    )


def test_a_repeated_mark_changes_nothing() -> None:
    state = ActivityState(activity=PaneActivity(kind="prompt", since=1))
    shells = ShellTracker(NONCE, state)
    shells.apply_mark(build_mark("title", "x"), 2)
    assert shells.activity_state is state
