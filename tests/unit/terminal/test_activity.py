"""Derive the activity of a pane from marks."""

import pytest

from termvisor.model.terminal.output import Mark, MarkKind
from termvisor.model.terminal.pane import PaneActivity
from termvisor.terminal.shell_tracker import ActivityState, ShellTracker

NONCE = "5eed"


def mark(kind: MarkKind, text: str = "", exit_code: int | None = None, nonce: str | None = None) -> Mark:
    return Mark(kind=kind, offset=1, text=text, exit_code=exit_code, params={} if nonce is None else {"nonce": nonce})


def ours(kind: MarkKind, text: str = "", exit_code: int | None = None) -> Mark:
    return mark(kind, text, exit_code, NONCE)


def after(*marks: Mark, nonce: str | None = NONCE) -> PaneActivity:
    """The first mark is heard at 1, the next at 2, and so on."""
    shells = ShellTracker(nonce)
    for at, heard in enumerate(marks, 1):
        shells.apply_mark(heard, at)
    return shells.activity_state.activity


CONVERSATIONS: list[tuple[str, list[Mark], PaneActivity]] = [
    ("silence", [], PaneActivity()),
    ("a prompt", [mark("prompt_start"), mark("input_start")], PaneActivity(kind="prompt", since=1)),
    (
        "a command with its line",
        [mark("prompt_start"), mark("command_line", "make"), mark("command_start")],
        PaneActivity(kind="command", since=3, command_line="make"),
    ),
    (
        "a line told with the start",
        [mark("command_line", "old"), mark("command_start", "make")],
        PaneActivity(kind="command", since=2, command_line="make"),
    ),
    (
        "a line told after the start",
        [mark("command_start"), mark("command_line", "make")],
        PaneActivity(kind="command", since=1, command_line="make"),
    ),
    (
        "a line is for one command only",
        [mark("command_line", "make"), mark("command_start"), mark("command_end"), mark("command_start")],
        PaneActivity(kind="command", since=4),
    ),
    (
        "an ended command",
        [mark("command_start"), mark("command_end", exit_code=2)],
        PaneActivity(kind="prompt", since=2, last_exit=2),
    ),
    (
        "a prompt keeps the status",
        [mark("command_start"), mark("command_end", exit_code=2), mark("prompt_start"), mark("input_start")],
        PaneActivity(kind="prompt", since=2, last_exit=2),
    ),
    ("an editor", [mark("command_start"), mark("alt_screen_on")], PaneActivity(kind="alt_screen", since=2)),
    (
        "an editor that was left",
        [mark("command_start", "vi"), mark("alt_screen_on"), mark("alt_screen_off")],
        PaneActivity(kind="command", since=1, command_line="vi"),
    ),
    ("what was before is not known", [mark("alt_screen_on"), mark("alt_screen_off")], PaneActivity(since=2)),
    (
        "a prompt behind the alternate screen is not trusted",
        [mark("prompt_start"), mark("alt_screen_on"), mark("alt_screen_off")],
        PaneActivity(since=3),
    ),
    (
        "entering twice",
        [mark("command_start"), mark("alt_screen_on"), mark("alt_screen_on"), mark("alt_screen_off")],
        PaneActivity(kind="command", since=1),
    ),
    (
        "leaving what was not entered",
        [mark("prompt_start"), mark("alt_screen_off")],
        PaneActivity(kind="prompt", since=1),
    ),
    (
        "a program that died in the alternate screen",
        [mark("command_start"), mark("alt_screen_on"), mark("command_end", exit_code=137), mark("alt_screen_off")],
        PaneActivity(kind="prompt", since=3, last_exit=137),
    ),
    ("a reset", [mark("prompt_start"), mark("reset")], PaneActivity(since=2)),
    ("other marks", [mark("prompt_start"), mark("title", "x"), mark("bell")], PaneActivity(kind="prompt", since=1)),
    ("a proven prompt", [ours("prompt_start")], PaneActivity(kind="prompt", since=1, is_proven=True)),
    (
        "a proven status",
        [ours("command_line", "make"), ours("command_start"), ours("command_end", exit_code=0)],
        PaneActivity(kind="prompt", since=3, last_exit=0, is_proven=True),
    ),
    (
        "a proven command behind an editor is still proven",
        [ours("command_start", "vi"), mark("alt_screen_on"), mark("alt_screen_off")],
        PaneActivity(kind="command", since=1, command_line="vi", is_proven=True),
    ),
    ("a wrong nonce", [mark("prompt_start", nonce="beef")], PaneActivity(kind="prompt", since=1)),
    (
        "a forged end",
        [ours("command_start", "cat evil"), mark("command_end", exit_code=0), mark("prompt_start", nonce="beef")],
        PaneActivity(kind="command", since=1, command_line="cat evil", is_proven=True),
    ),
    (
        "a forged command line",
        [ours("prompt_start"), mark("command_line", "rm -rf /"), ours("command_start")],
        PaneActivity(kind="command", since=3, is_proven=True),
    ),
    (
        "a line forged before the first proof",
        [mark("command_line", "rm -rf /"), ours("command_start")],
        PaneActivity(kind="command", since=2, is_proven=True),
    ),
    (
        "a forged prompt after a reset",
        [ours("command_start", "cat evil"), mark("reset"), mark("prompt_start")],
        PaneActivity(since=2),
    ),
    (
        "a forged prompt in the alternate screen",
        [ours("command_start", "less"), mark("alt_screen_on"), mark("prompt_start"), mark("alt_screen_off")],
        PaneActivity(kind="command", since=1, command_line="less", is_proven=True),
    ),
]


@pytest.mark.parametrize(
    ("marks", "expected"), [case[1:] for case in CONVERSATIONS], ids=[case[0] for case in CONVERSATIONS]
)
def test_marks_determine_the_activity(marks: list[Mark], expected: PaneActivity) -> None:
    assert after(*marks) == expected


def test_without_a_nonce_of_ours_nothing_is_proven() -> None:
    assert after(ours("prompt_start"), mark("command_start"), nonce=None) == PaneActivity(kind="command", since=2)


def test_a_repeated_mark_changes_nothing() -> None:
    state = ActivityState(activity=PaneActivity(kind="prompt", since=1))
    shells = ShellTracker(NONCE, state)
    shells.apply_mark(mark("title", "x"), 2)
    assert shells.activity_state is state
