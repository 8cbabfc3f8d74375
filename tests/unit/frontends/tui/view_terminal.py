"""A terminal that runs a view: reads its screen and presses keys."""

from collections.abc import Callable

from termvisor.system.retry import wait_until
from termvisor.testing.private_tmux import PrivateTmux


class ViewTerminal:
    def __init__(self, tmux: PrivateTmux, pane: str):
        self.tmux, self.pane = tmux, pane

    def screen(self) -> list[str]:
        return self.tmux("capture-pane", "-p", "-t", self.pane).split("\n")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", self.pane, *keys)

    def wait_for_rows(self, check: Callable[[list[str]], bool]) -> None:
        assert wait_until(lambda: check(self.screen()), 20.0, interval_s=0.05), "\n".join(self.screen())

    def wait_for_text(self, text: str) -> None:
        self.wait_for_rows(lambda rows: text in "\n".join(rows))
