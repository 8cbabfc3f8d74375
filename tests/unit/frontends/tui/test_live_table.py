"""The live table in a real tmux pane, with a daemon with fake services."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from termvisor.client import daemon_process
from termvisor.settings import Paths
from termvisor.system.polling import wait_until
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.unit.fake_daemon import build_daemon_command, build_environment, reap_daemons, run_fake_daemon


class Reader:
    """Somebody who looks at `visor up` in a terminal and presses keys."""

    def __init__(self, tmux: PrivateTmux, pane: str):
        self.tmux, self.pane = tmux, pane

    def screen(self) -> list[str]:
        return self.tmux("capture-pane", "-p", "-t", self.pane).split("\n")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", self.pane, *keys)

    def sees(self, check: Callable[[list[str]], bool]) -> None:
        assert wait_until(lambda: check(self.screen()), 20.0, interval_s=0.05), "\n".join(self.screen())

    def sees_text(self, text: str) -> None:
        self.sees(lambda rows: text in "\n".join(rows))


@contextmanager
def reader(folder: str, places: Paths, *, width: int = 120, height: int = 24) -> Iterator[Reader]:
    names = [
        f"{name}={value}" for name, value in build_environment(places).items() if name.startswith(("VISOR_", "PATH"))
    ]
    words = ["env", *names, sys.executable, "-m", "termvisor", "up", "--interval", "0.2"]
    with run_private_tmux(folder) as tmux:
        pane = tmux.start_session(command=f"{shlex.join(words)}; echo left with $?; cat", width=width, height=height)
        yield Reader(tmux, pane)


def test_it_shows_panes_and_cost_and_restores_the_terminal(folder: str) -> None:
    with run_fake_daemon(folder) as places, reader(folder, places) as one:
        one.sees_text("3:window-3")
        rows = one.screen()
        assert rows[0].startswith("daemon 41.0 MB")
        assert rows[2].split()[:2] == ["ID", "SESSION"]
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "10"
        one.press("q")
        one.sees_text("left with 0")
        assert one.screen()[0].startswith("Still running: daemon (pid ")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_ctrl_c_leaves_without_a_traceback(folder: str) -> None:
    with run_fake_daemon(folder) as places, reader(folder, places) as one:
        one.sees_text("window-3")
        one.press("C-c")
        one.sees_text("left with 0")
        assert "Traceback" not in "\n".join(one.screen())


def test_hundreds_of_panes_are_scrolled(folder: str) -> None:
    with run_fake_daemon(folder, panes=300) as places, reader(folder, places) as one:
        one.sees_text("1-20 of 300 panes")
        one.press("NPage")
        one.sees_text("21-40 of 300 panes")
        one.press("Down", "Down", "Up")
        one.sees_text("22-41 of 300 panes")
        one.press("End")
        one.sees_text("300:window-300")
        one.press("Home")
        one.sees_text(" 1:window-1 ")


def test_it_follows_the_size_of_the_terminal(folder: str) -> None:
    with run_fake_daemon(folder) as places, reader(folder, places) as one:
        one.sees_text("window-3")
        one.tmux("resize-window", "-t", one.pane, "-x", "50", "-y", "5")
        one.sees(lambda rows: len(rows) <= 5 and rows[0].startswith("ID") and "work" in rows[1])
        one.tmux("resize-window", "-t", one.pane, "-x", "120", "-y", "24")
        one.sees(lambda rows: rows[0].startswith("daemon 41.0 MB"))


def test_it_outlives_the_daemon_and_takes_it_up_again(folder: str) -> None:
    with run_fake_daemon(folder) as places, reader(folder, places) as one:
        one.sees_text("window-3")
        daemon_process.stop_daemon(places)
        reap_daemons()
        one.sees_text("waiting for the daemon")
        assert "window-3" in "\n".join(one.screen())
        daemon_process.ensure_running(places, command=build_daemon_command(panes=4))
        one.sees_text("window-4")
        one.sees(lambda rows: rows[0].startswith("daemon 41.0 MB"))
