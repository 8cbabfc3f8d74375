from termvisor.backends.local_terminal import LocalPaneTerminal
from termvisor.model.terminal.pane import PaneFacts
from termvisor.system.procfs import read_start_time
from termvisor.system.tty import count_unread_bytes
from tests.unit.wait_until import wait_until

TERMINAL = LocalPaneTerminal()


async def test_a_terminal_tells_its_foreground_its_modes_and_its_unread_input(tmux):
    pane = tmux.start_session(command="stty -echo; exec sleep 600")
    pid, tty = int(tmux.read_format(pane, "#{pane_pid}")), tmux.read_format(pane, "#{pane_tty}")
    facts = PaneFacts(mux_id=pane, pid=pid, pid_started=read_start_time(pid), tty=tty)
    await wait_until(lambda: tmux.read_format(pane, "#{pane_current_command}") == "sleep")
    tmux.type_line(pane, "abc")
    await wait_until(lambda: count_unread_bytes(tty) == 4)
    state = await TERMINAL.read_state(facts)
    assert (state.foreground_group, state.is_pane_process) == (pid, True)
    assert (state.echoes, state.is_canonical, state.unread_bytes, state.waits) == (False, True, 4, "unknown")
    assert await TERMINAL.is_in_foreground(facts, pid) and await TERMINAL.is_same_process(facts)


async def test_without_a_process_nothing_is_known():
    gone = PaneFacts(mux_id="%1", pid=2**22 + 5, pid_started=7, tty="/dev/pts/none")
    assert await TERMINAL.read_state(gone) is None
    assert await TERMINAL.count_unread_bytes(gone) is None
    assert not await TERMINAL.is_same_process(gone)
