"""The live table in a real tmux pane, with a daemon with fake services."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.client import daemon_process
from termvisor.errors import Unavailable
from termvisor.frontends.tui import live_table
from termvisor.frontends.tui.live_table import TableView, compose_rows, count_visible_rows, encode_rows, scroll_to
from termvisor.ops.system.health import HealthReport
from termvisor.protocol.command_protocol import TerminalInfo
from termvisor.settings import Paths
from termvisor.system.retry import wait_until
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from tests.unit.fake_daemon import (
    build_daemon_command,
    build_environment,
    make_private_paths,
    reap_daemons,
    run_fake_daemon,
)


class TableTerminal:
    """A terminal that runs `visor up`: reads its screen and presses keys."""

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


@contextmanager
def open_table_terminal(folder: str, places: Paths, *, width: int = 120, height: int = 24) -> Iterator[TableTerminal]:
    names = [
        f"{name}={value}" for name, value in build_environment(places).items() if name.startswith(("VISOR_", "PATH"))
    ]
    words = ["env", *names, sys.executable, "-m", "termvisor", "up", "--interval", "0.2"]
    with run_private_tmux(folder) as tmux:
        pane = tmux.start_session(command=f"{shlex.join(words)}; echo left with $?; cat", width=width, height=height)
        yield TableTerminal(tmux, pane)


def test_the_table_shows_panes_and_resource_usage_and_restores_the_terminal(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("3:window-3")
        rows = one.screen()
        assert rows[0].startswith("daemon 41.0 MB")
        assert rows[2].split()[:2] == ["ID", "SESSION"]
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "10"
        one.press("q")
        one.wait_for_text("left with 0")
        assert one.screen()[0].startswith("Still running: daemon (pid ")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_ctrl_c_leaves_without_a_traceback(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        one.press("C-c")
        one.wait_for_text("left with 0")
        assert "Traceback" not in "\n".join(one.screen())


def test_hundreds_of_panes_are_scrolled(folder: str) -> None:
    with run_fake_daemon(folder, panes=300) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("1-20 of 300 panes")
        one.press("NPage")
        one.wait_for_text("21-40 of 300 panes")
        one.press("Down", "Down", "Up")
        one.wait_for_text("22-41 of 300 panes")
        one.press("End")
        one.wait_for_text("300:window-300")
        one.press("Home")
        one.wait_for_text(" 1:window-1 ")


def test_the_view_follows_the_size_of_the_terminal(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        one.tmux("resize-window", "-t", one.pane, "-x", "50", "-y", "5")
        one.wait_for_rows(lambda rows: len(rows) <= 5 and rows[0].startswith("ID") and "work" in rows[1])
        one.tmux("resize-window", "-t", one.pane, "-x", "120", "-y", "24")
        one.wait_for_rows(lambda rows: rows[0].startswith("daemon 41.0 MB"))


def test_the_table_survives_a_daemon_restart(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        daemon_process.stop_daemon(places)
        reap_daemons()
        one.wait_for_text("waiting for the daemon")
        assert "window-3" in "\n".join(one.screen())
        daemon_process.ensure_running(places, command=build_daemon_command(panes=4))
        one.wait_for_text("window-4")
        one.wait_for_rows(lambda rows: rows[0].startswith("daemon 41.0 MB"))


def test_the_view_has_panes_title_and_cost_line(daemon: Paths) -> None:
    view = live_table.build_view(daemon, TerminalInfo(120, True, False))
    assert view.title.split()[:3] == ["ID", "SESSION", "WINDOW"]
    assert [row.split()[:3] for row in view.rows] == [[str(n), "work", f"{n}:window-{n}"] for n in (1, 2, 3)]
    assert view.foot == "3 panes, 0 gaps"
    assert view.head == "daemon 41.0 MB 0.7 % cpu · recorder 9.4 MB 0.1 % · lag 31 ms · 7 forks · db 12.4 MB · 0 gaps"


def test_without_panes_the_view_suggests_the_demo(folder: str) -> None:
    with run_fake_daemon(folder, panes=0) as places:
        view = live_table.build_view(places, TerminalInfo(120, True, False))
        assert "visor demo" in view.rows[0]
        assert (view.title, view.foot) == ("", "0 panes")


def test_rows_fit_the_width(daemon: Paths) -> None:
    view = live_table.build_view(daemon, TerminalInfo(70, True, False))
    assert max(len(row) for row in (view.title, *view.rows)) <= 70


def test_a_lost_daemon_is_reported_above_the_last_view(folder: str) -> None:
    with pytest.raises(Unavailable) as raised:
        live_table.build_view(make_private_paths(folder), TerminalInfo())
    view = live_table.build_disconnected_view(TableView(head="h", title="t", rows=("r",), foot="f"), raised.value)
    assert "no daemon is running; waiting" in view.problem
    assert (view.title, view.rows) == ("t", ("r",))


def test_alerts_and_a_missing_recorder_are_in_the_cost(daemon: Paths) -> None:
    health = msgspec.convert(live_table.call_daemon(daemon, "health"), HealthReport)
    worse = msgspec.structs.replace(health, recorder=None, alerts=("disk \x1b[31mfull",))
    assert "no recorder" in live_table.render_cost(worse)
    assert live_table.render_cost(worse).endswith("ALERT disk full")


VIEW = TableView(head="cost", title="ID NAME", rows=tuple(f"pane {number}" for number in range(100)), foot="100 panes")


def test_a_screen_has_cost_line_title_panes_and_footer() -> None:
    rows = compose_rows(VIEW, 24, 0)
    assert rows[:4] == ["cost", "", "ID NAME", "pane 0"]
    assert rows[22] == "pane 19"
    assert rows[23].startswith("1-20 of 100 panes   q quits")


def test_few_panes_leave_empty_rows_above_the_footer() -> None:
    rows = compose_rows(TableView(title="t", rows=("only",), foot="1 pane"), 10, 0)
    assert rows == ["", "", "t", "only", "", "", "", "", "", rows[-1]]
    assert rows[-1].startswith("1 pane")


def test_on_a_short_screen_the_panes_are_kept() -> None:
    assert compose_rows(VIEW, 6, 5)[:2] == ["ID NAME", "pane 5"]
    assert compose_rows(VIEW, 4, 0) == ["ID NAME", "pane 0", "pane 1", "pane 2"]
    assert compose_rows(VIEW, 2, 0) == ["pane 0", "pane 1"]
    assert compose_rows(VIEW, 1, 7) == ["pane 7"]


def test_a_problem_replaces_the_cost_line() -> None:
    troubled = TableView(head="cost", title="t", problem="no daemon")
    assert compose_rows(troubled, 24, 0)[0] == "no daemon"
    assert compose_rows(troubled, 6, 0)[0] == "no daemon"


@given(st.integers(1, 60), st.integers(0, 99))
def test_there_are_never_more_rows_than_the_screen_has(height: int, top: int) -> None:
    assert len(compose_rows(VIEW, height, top)) <= height
    assert 1 <= count_visible_rows(VIEW, height) <= height


def test_keys_move_the_view_and_stop_at_its_ends() -> None:
    assert [scroll_to(0, key, 100, 20) for key in ("up", "down", "page_down", "end", "home")] == [0, 1, 20, 80, 0]
    assert [scroll_to(80, key, 100, 20) for key in ("down", "page_up", "up", "?")] == [80, 60, 79, 80]
    assert scroll_to(50, "", 10, 20) == 0


def test_painting_is_one_update_from_the_top_left() -> None:
    assert encode_rows(["a", "b"]) == b"\x1b[?2026h\x1b[H\x1b[Ka\x1b[0m\r\n\x1b[Jb\x1b[0m\x1b[?2026l"
    assert encode_rows([]) == b"\x1b[?2026h\x1b[H\x1b[J\x1b[0m\x1b[?2026l"
