"""Who has the terminal, asked of the real kernel."""

import os
import sys

from termvisor.clock import NS, SystemClock
from termvisor.ingest.agents import kernel
from termvisor.ingest.agents.foreground import began_at, foreground, members
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


def test_where_there_is_no_process_nobody_has_its_terminal():
    assert foreground(0) == 0
    assert members(0, [os.getpid()]) == members(1 << 22, [1 << 22]) == frozenset()


def test_a_process_began_before_now_and_after_the_machine_did():
    now, entry = SystemClock().now(), kernel.entry(os.getpid())
    assert now - 3600 * NS < began_at(entry.started, now) < now
    assert began_at(1 << 50, now) == now
    assert sys.platform == "linux"
