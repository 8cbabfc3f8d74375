"""Who has the terminal, asked of the real kernel."""

import os
import sys

from termvisor.clock import NS, SystemClock
from termvisor.system import procfs as kernel
from termvisor.system.foreground_process import began_at, foreground, members, speaks_in
from tests.unit.waiting import until


async def test_the_program_that_runs_has_the_terminal_and_the_shell_before_and_after(tmux):
    pane = tmux.start(command="bash --norc --noprofile")
    shell = int(tmux.ask(pane, "#{pane_pid}"))
    await until(lambda: foreground(shell) == shell)
    tmux.type(pane, "sleep 1000")
    group = await until(lambda: foreground(shell) != shell and foreground(shell))
    assert members(group, [shell, group]) == {group}
    tmux("send-keys", "-t", pane, "C-c")
    await until(lambda: foreground(shell) == shell)


async def test_who_speaks_in_a_pane_has_its_terminal_and_prints_there(tmux, tmp_path):
    pane = tmux.start(command="bash --norc --noprofile")
    shell = int(tmux.ask(pane, "#{pane_pid}"))
    await until(lambda: foreground(shell) == shell)

    async def started(line: str) -> bool | None:
        file = tmp_path / "pid"
        file.unlink(missing_ok=True)
        tmux.type(pane, line.format(f"bash -c 'echo $$ > {file}.new; mv {file}.new {file}; exec sleep 1000'"))
        pid = int(await until(lambda: file.exists() and file.read_text()))
        entry = await until(lambda: next((one for one in [kernel.entry(pid)] if one and one.name == "sleep"), None))
        told = speaks_in(pid, entry.started, shell)
        assert speaks_in(pid, entry.started + 1, shell) is None
        os.kill(pid, 9)
        await until(lambda: speaks_in(pid, entry.started, shell) is None)
        return told

    assert await started("{}") is True
    assert await started("{} | cat") is True
    assert await started(f"{{}} > {tmp_path}/out") is False
    assert await started("{} > /dev/tty") is False
    assert await started("{} &") is False
    assert await started("setsid {}") is False


def test_where_there_is_no_process_nobody_has_its_terminal():
    assert foreground(0) == 0
    assert members(0, [os.getpid()]) == members(1 << 22, [1 << 22]) == frozenset()


def test_a_process_began_before_now_and_after_the_machine_did():
    now, entry = SystemClock().now(), kernel.entry(os.getpid())
    assert now - 3600 * NS < began_at(entry.started, now) < now
    assert began_at(1 << 50, now) == now
    assert sys.platform == "linux"
