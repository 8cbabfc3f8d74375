"""Inspection of a real pane's terminal."""

import os

import pytest

from termvisor.system import procfs
from termvisor.system.tty import (
    count_unread_bytes,
    filter_group_members,
    find_foreground,
    find_foreground_group,
    find_terminal,
    is_busy,
    is_printing_in_pane,
    send_signal,
)
from tests.unit.wait_until import wait_until


@pytest.fixture
async def bash(tmux):
    pane = tmux.start_session(command="exec bash --norc --noprofile")
    await wait_until(
        lambda: "$" in tmux("capture-pane", "-p", "-t", pane) or "#" in tmux("capture-pane", "-p", "-t", pane)
    )
    return pane, int(tmux.read_format(pane, "#{pane_pid}"))


async def test_a_shell_at_its_prompt_is_its_own_foreground(tmux, bash):
    _, pid = bash
    found = find_foreground(pid)
    assert found is not None and (found.group, found.is_pane_process) == (pid, True)


async def test_a_foreground_command_gets_the_signal_and_its_shell_continues(tmux, bash):
    pane, pid = bash
    tmux.type_line(pane, "sleep 600")
    # Before the exec it is still a copy of the shell, which ignores the signal.
    await wait_until(lambda: tmux.read_format(pane, "#{pane_current_command}") == "sleep")
    assert not find_foreground(pid).is_pane_process
    assert send_signal(find_foreground(pid).group, "INT")
    await wait_until(lambda: find_foreground(pid).is_pane_process)
    tmux.type_line(pane, "echo status-$?")
    await wait_until(lambda: "status-130" in tmux("capture-pane", "-p", "-t", pane))


async def test_unread_input_bytes_are_counted(tmux):
    pane = tmux.start_session("deaf", "exec sleep 600")
    tty = tmux.read_format(pane, "#{pane_tty}")
    assert count_unread_bytes(tty) == 0
    tmux.type_line(pane, "hello")
    await wait_until(lambda: count_unread_bytes(tty) == len("hello\n"))


async def test_a_process_is_found_on_its_terminal(tmux, bash):
    pane, pid = bash
    assert find_terminal(pid) == tmux.read_format(pane, "#{pane_tty}")


def test_a_missing_process_or_terminal_has_no_values():
    assert (
        find_foreground(2**22 + 1) is None
        and count_unread_bytes("/dev/pts/none") is None
        and find_terminal(2**22 + 1) == ""
    )
    assert not send_signal(2**22 + 1, "INT")
    assert count_unread_bytes(os.devnull) in (None, 0)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("exec sleep 600", True),
        ("exec sh -c 'while :; do :; done'", True),
        ("exec cat", False),
        ("sh -c 'cat; true'; true", False),
        ("sh -c 'sleep 600; true'; true", True),
        ("exec bash --norc --noprofile", False),
        ("stty raw -echo; exec sleep 600", False),
    ],
)
async def test_a_program_that_reads_no_input_is_busy_if_the_terminal_echoes(tmux, command, expected):
    pane = tmux.start_session(command=command)
    pid, tty = int(tmux.read_format(pane, "#{pane_pid}")), tmux.read_format(pane, "#{pane_tty}")
    await wait_until(lambda: is_busy(pid, tty) is expected)


def test_a_missing_terminal_is_not_busy():
    assert is_busy(os.getpid(), "/dev/pts/99999") is False


async def test_the_program_that_runs_has_the_terminal_and_the_shell_before_and_after(tmux):
    pane = tmux.start_session(command="bash --norc --noprofile")
    shell = int(tmux.read_format(pane, "#{pane_pid}"))
    await wait_until(lambda: find_foreground_group(shell) == shell)
    tmux.type_line(pane, "sleep 1000")
    group = await wait_until(lambda: find_foreground_group(shell) != shell and find_foreground_group(shell))
    assert filter_group_members(group, [shell, group]) == {group}
    tmux("send-keys", "-t", pane, "C-c")
    await wait_until(lambda: find_foreground_group(shell) == shell)


async def test_a_process_prints_in_a_pane_if_it_is_in_the_foreground(tmux, tmp_path):
    pane = tmux.start_session(command="bash --norc --noprofile")
    shell = int(tmux.read_format(pane, "#{pane_pid}"))
    await wait_until(lambda: find_foreground_group(shell) == shell)

    async def started(line: str) -> bool | None:
        file = tmp_path / "pid"
        file.unlink(missing_ok=True)
        tmux.type_line(pane, line.format(f"bash -c 'echo $$ > {file}.new; mv {file}.new {file}; exec sleep 1000'"))
        pid = int(await wait_until(lambda: file.exists() and file.read_text()))
        entry = await wait_until(
            lambda: next((one for one in [procfs.read_process(pid)] if one and one.name == "sleep"), None)
        )
        is_printing = is_printing_in_pane(pid, entry.started, shell)
        assert is_printing_in_pane(pid, entry.started + 1, shell) is None
        os.kill(pid, 9)
        await wait_until(lambda: is_printing_in_pane(pid, entry.started, shell) is None)
        return is_printing

    assert await started("{}") is True
    assert await started("{} | cat") is True
    assert await started(f"{{}} > {tmp_path}/out") is False
    assert await started("{} > /dev/tty") is False
    assert await started("{} &") is False
    assert await started("setsid {}") is False


def test_without_a_process_there_is_no_foreground_group():
    assert find_foreground_group(0) == 0
    assert filter_group_members(0, [os.getpid()]) == filter_group_members(1 << 22, [1 << 22]) == frozenset()
