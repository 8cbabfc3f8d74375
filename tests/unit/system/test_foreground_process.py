"""Foreground process groups of real panes."""

import os

from termvisor.system import procfs
from termvisor.system.foreground_process import (
    filter_group_members,
    find_foreground_group,
    is_printing_in_pane,
)
from tests.unit.wait_until import wait_until


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
        told = is_printing_in_pane(pid, entry.started, shell)
        assert is_printing_in_pane(pid, entry.started + 1, shell) is None
        os.kill(pid, 9)
        await wait_until(lambda: is_printing_in_pane(pid, entry.started, shell) is None)
        return told

    assert await started("{}") is True
    assert await started("{} | cat") is True
    assert await started(f"{{}} > {tmp_path}/out") is False
    assert await started("{} > /dev/tty") is False
    assert await started("{} &") is False
    assert await started("setsid {}") is False


def test_without_a_process_there_is_no_foreground_group():
    assert find_foreground_group(0) == 0
    assert filter_group_members(0, [os.getpid()]) == filter_group_members(1 << 22, [1 << 22]) == frozenset()
