"""The terminals of panes whose programs run on this machine (`PaneTerminal`), as its kernel shows them."""

from termvisor.backends.pane_terminal import SignalName, TerminalState
from termvisor.model.terminal.pane import PaneFacts
from termvisor.system import foreground_shell, procfs, tty


class LocalPaneTerminal:
    async def read_state(self, facts: PaneFacts) -> TerminalState | None:
        foreground = tty.find_foreground(facts.pid)
        if foreground is None:
            return None
        echoes, is_canonical = tty.read_input_modes(facts.tty)
        return TerminalState(
            foreground_group=foreground.group,
            is_pane_process=foreground.is_pane_process,
            is_shell_reading=foreground_shell.is_shell_reading(facts.pid),
            unread_bytes=tty.count_unread_bytes(facts.tty),
            echoes=echoes,
            is_canonical=is_canonical,
        )

    async def find_foreground_group(self, facts: PaneFacts) -> int:
        return tty.find_foreground_group(facts.pid)

    async def count_unread_bytes(self, facts: PaneFacts) -> int | None:
        return tty.count_unread_bytes(facts.tty)

    async def is_busy(self, facts: PaneFacts) -> bool:
        return tty.is_busy(facts.pid, facts.tty)

    async def is_in_foreground(self, facts: PaneFacts, pid: int) -> bool:
        return foreground_shell.is_in_foreground(pid, facts.pid)

    async def count_children(self, facts: PaneFacts) -> int | None:
        return procfs.count_children(facts.pid)

    async def count_read_bytes(self, facts: PaneFacts, pid: int) -> int | None:
        return procfs.count_read_bytes(pid)

    async def is_same_process(self, facts: PaneFacts) -> bool:
        # The kernel reuses process ids, so only the start time proves that this is still the same process.
        return procfs.read_start_time(facts.pid) == facts.pid_started

    async def send_signal(self, facts: PaneFacts, group: int, name: SignalName) -> bool:
        return tty.send_signal(group, name)
