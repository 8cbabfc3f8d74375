"""Assign output lines to shell commands, through the real pipeline and store."""

import pytest

from termvisor.model.terminal.command import CommandBoundary, ShellCommand
from termvisor.model.terminal.output import Mark
from termvisor.terminal.row_window import LineAnchor
from termvisor.terminal.shell_tracker import MAX_UNCERTAIN_EDGES, ShellCommandsState, ShellTracker

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def build_osc(text: str) -> bytes:
    return f"\x1b]133;{text}\x07".encode()


A, B, C, D = build_osc("A"), build_osc("B"), build_osc("C"), build_osc("D;0")
PROMPT = A + b"$ " + B


def build_typed_line(line: str) -> bytes:
    """Build a prompt, a typed line, Enter and the marks that the PS0 of bash prints."""
    return PROMPT + line.encode() + b"\r\n" + build_osc(f"E;{line}") + C


async def list_commands(capture_store, pane) -> list[ShellCommand]:
    await capture_store.pipeline.wait_settled()
    return await capture_store.store.commands.list(pane=pane)


async def list_output_lines(capture_store, pane) -> dict[str | None, list[str]]:
    """Return each command line with its output lines."""
    found = {}
    for command in await list_commands(capture_store, pane):
        before = None if command.last_line is None else command.last_line + 1
        lines = await capture_store.pipeline.lines.read(pane, after=command.first_line - 1, before=before)
        found[command.line] = [line.text for line in lines]
    return found


CASES = [
    ("output", build_typed_line("ls") + b"a\r\nb\r\n" + D + PROMPT, {"ls": ["a", "b"]}),
    ("no output", build_typed_line("true") + D + PROMPT, {"true": []}),
    ("blank lines", build_typed_line("echo") + b"\r\n\r\n" + D + PROMPT, {"echo": ["", ""]}),
    (
        "two commands",
        build_typed_line("a") + b"1\r\n" + D + build_typed_line("b") + b"2\r\n" + D + PROMPT,
        {"a": ["1"], "b": ["2"]},
    ),
    (
        "a lost one",
        build_typed_line("a") + b"1\r\n" + build_typed_line("b") + b"2\r\n" + D + PROMPT,
        {"a": ["1"], "b": ["2"]},
    ),
    ("no newline at the end", build_typed_line("printf") + b"x" + D + PROMPT + b"\r\n", {"printf": ["x$"]}),
    (
        "a start before the newline",
        PROMPT + b"ls" + build_osc("C;cmdline=ls") + b"\r\na\r\n" + D + PROMPT,
        {"ls": ["a"]},
    ),
    (
        "a start before the prompt is wiped away",
        PROMPT + b"ls" + build_osc("C;cmdline=ls") + b"\r\x1b[K\x1b[Ha\r\n" + D + PROMPT,
        {"ls": ["a"]},
    ),
    (
        "zsh's mark of a missing newline",
        build_typed_line("printf") + b"x\x1b[7m%\x1b[27m" + b" " * 79 + b"\r \r" + D + b"\r\x1b[0m\x1b[J" + PROMPT,
        {"printf": ["x%"]},
    ),
    (
        "the alternate screen",
        build_typed_line("vi") + b"\x1b[?1049h\x1b[2J~\r\n~\r\nrow\x1b[?1049l" + b"bye\r\n" + D + PROMPT,
        {"vi": ["bye"]},
    ),
    (
        "a program that died in it",
        build_typed_line("vi") + b"\x1b[?1049h~\r\n" + D + b"\x1b[?1049l" + PROMPT,
        {"vi": []},
    ),
    ("clear", build_typed_line("clear") + b"\x1b[H\x1b[2J\x1b[3J" + D + PROMPT, {"clear": []}),
    ("a prompt of two rows", build_typed_line("a") + b"1\r\n" + D + A + b"upper\r\nleft> " + B, {"a": ["1"]}),
    ("no prompt marks", b"$ a\r\n" + build_osc("C;cmdline=a") + b"1\r\n" + D + b"$ ", {"a": ["1"]}),
    ("still running", build_typed_line("top") + b"1\r\n2", {"top": ["1"]}),
    (
        "an endless line",
        build_typed_line("yes") + b"x" * 9000 + b"\r\n" + D,
        {"yes": ["x" * 4096, "x" * 4096, "x" * 808]},
    ),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_the_lines_between_start_and_end_are_the_output(capture_store, pane, epoch, data, expected):
    capture_store.pipeline.resize_pane(pane, 80, 24)
    capture_store.write_output(epoch, data)
    assert await list_output_lines(capture_store, pane) == expected


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_output_lines_are_assigned_however_often_they_are_stored(capture_store, pane, epoch, data, expected):
    capture_store.pipeline.resize_pane(pane, 80, 24)
    for start in range(0, len(data), max(1, len(data) // 23)):
        capture_store.write_output(epoch, data[start : start + max(1, len(data) // 23)])
        await capture_store.pipeline.wait_settled()
    assert await list_output_lines(capture_store, pane) == expected


async def test_an_unfinished_last_line_counts_as_output(capture_store, pane, epoch):
    capture_store.write_output(epoch, build_typed_line("printf") + b"x" + D + b"$ ")
    (command,) = await list_commands(capture_store, pane)
    assert (command.status, command.exit_code) == ("finished", 0)
    assert (command.first_line, command.last_line, await capture_store.pipeline.lines.find_last_number(pane)) == (
        2,
        2,
        1,
    )


async def test_the_next_daemon_ends_the_same_command(capture_store, pane, epoch):
    capture_store.write_output(epoch, build_typed_line("make") + b"1\r\n")
    (before,) = await list_commands(capture_store, pane)
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    capture_store.pipeline.open_epoch(left)
    capture_store.write_output(left, b"2\r\n" + build_osc("D;2") + PROMPT)
    (after,) = await list_commands(capture_store, pane)
    assert (before.id, before.status, before.last_line) == (after.id, "running", None)
    assert (after.status, after.exit_code, after.first_line, after.last_line) == ("finished", 2, 2, 3)


async def test_commands_running_when_the_epoch_closes_are_lost(capture_store, pane, epoch):
    size = capture_store.write_output(epoch, build_typed_line("make") + b"1\r\nhalf")
    await capture_store.epochs.end_epoch(epoch, "stopped", size)
    (command,) = await capture_store.store.commands.list(pane=pane)
    assert (command.status, command.ended_at, command.end) == ("lost", None, size)
    assert (command.first_line, command.last_line) == (2, 3)


async def test_a_secret_in_a_command_line_is_not_stored(capture_store, pane, epoch):
    capture_store.write_output(
        epoch, b"\x1b]7;file:///home/" + KEY.encode() + b"\x07" + build_typed_line(f"login {KEY}") + b"\r\n"
    )
    (command,) = await list_commands(capture_store, pane)
    assert command.line is not None and command.line.startswith("login ghp_") and KEY not in command.line
    assert command.cwd is not None and KEY not in command.cwd
    (left,) = await capture_store.store.output.list_open_epochs()
    assert KEY.encode() not in left.carry


def test_uncertain_edges_of_a_line_with_only_marks_are_bounded():
    shells = ShellTracker(None)
    for offset in range(10, 10_000, 10):
        shells.apply_mark(Mark(kind="command_start", offset=offset), 1)
    assert len(shells.commands_state.edges) == MAX_UNCERTAIN_EDGES
    shells.resolve_edges([], [LineAnchor(offset, 0) for offset in range(10, 10_000, 10)], 0)
    _, edges = shells.take_updates()
    assert len(edges) == MAX_UNCERTAIN_EDGES


def test_an_edge_is_certain_when_its_line_is_settled():
    shells = ShellTracker(None, commands=ShellCommandsState(edges=(CommandBoundary(5, 20, False),)))
    shells.resolve_edges([], [LineAnchor(20, 12)], 10)
    assert shells.take_updates() == ((), ((CommandBoundary(5, 20, False), 2),))
    shells.resolve_edges([LineAnchor(20, 12)], [], 11)
    assert shells.take_updates() == ((), ((CommandBoundary(5, 20, False), 1),))
    assert shells.commands_state.edges == ()


@pytest.mark.parametrize("rest", [b"\r\x1b[K\x1b[Ha\r\n", b"\r\na\r\n"])
async def test_a_restart_while_an_edge_is_uncertain_changes_nothing(capture_store, pane, epoch, rest):
    capture_store.write_output(epoch, PROMPT + b"ls" + build_osc("C;cmdline=ls"))
    await capture_store.pipeline.wait_settled()
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    capture_store.pipeline.open_epoch(left)
    capture_store.write_output(left, rest + D + PROMPT)
    assert await list_output_lines(capture_store, pane) == {"ls": ["a"]}
