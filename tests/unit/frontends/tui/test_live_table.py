"""The live table in a real tmux pane, with a daemon with fake services."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.client import daemon_process
from termvisor.clock import NS, parse_timestamp
from termvisor.errors import Unavailable
from termvisor.frontends.tui import live_table
from termvisor.frontends.tui.live_table import edit_filter, encode_rows, has_known_states
from termvisor.frontends.tui.pane_table import TableState, TableView
from termvisor.ops.api.dispatch import call_operation
from termvisor.ops.panes.list_panes import ActivityItem, PaneListing
from termvisor.ops.system.health import HealthReport
from termvisor.settings import Paths
from termvisor.system.retry import wait_until
from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from termvisor.testing.sample_services import build_sample_services
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
        assert "q quits" in rows[23]
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
        one.wait_for_text("300 panes")
        one.press("NPage")
        one.wait_for_text(">  21 ")
        one.press("Down", "Down", "Up")
        one.wait_for_text(">  22 ")
        one.press("End")
        one.wait_for_text("> 300 ")
        one.press("Home")
        one.wait_for_text(">   1 ")


def test_a_filter_keeps_the_panes_that_contain_it(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        one.press("/", "window-2")
        one.wait_for_text("1 found")
        assert "window-3" not in "\n".join(one.screen())
        one.press("Enter")
        one.wait_for_text("1 of 3 panes")
        one.press("Escape")
        one.wait_for_text("window-3")


def test_help_lists_the_keys_and_any_key_returns(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places, width=60) as one:
        one.wait_for_text("3 panes")
        one.press("?")
        one.wait_for_text("approve or deny")
        one.press("?")
        one.wait_for_text("3 panes")


def test_q_after_the_daemon_was_stopped_claims_no_daemon(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        daemon_process.stop_daemon(places)
        reap_daemons()
        one.wait_for_text("waiting for the daemon")
        one.press("q")
        one.wait_for_text("left with 0")
        assert one.screen()[0].startswith("Nothing is running any more")


def test_the_view_follows_the_size_of_the_terminal(folder: str) -> None:
    with run_fake_daemon(folder) as places, open_table_terminal(folder, places) as one:
        one.wait_for_text("window-3")
        one.tmux("resize-window", "-t", one.pane, "-x", "50", "-y", "5")
        one.wait_for_rows(lambda rows: len(rows) <= 5 and rows[0].split()[:1] == ["ID"] and "work" in rows[1])
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


def test_the_view_has_panes_and_cost_line(daemon: Paths) -> None:
    view = live_table.fetch_view(daemon)
    assert [pane.identity.id for pane in view.panes] == [1, 2, 3]
    assert view.head == "daemon 41.0 MB 0.7 % cpu · recorder 9.4 MB 0.1 % · lag 31 ms · 7 forks · db 12.4 MB · 0 gaps"


def test_without_panes_the_view_suggests_the_demo(folder: str) -> None:
    with run_fake_daemon(folder, panes=0) as places:
        assert "visor demo" in live_table.fetch_view(places).empty


def test_a_lost_daemon_is_reported_above_the_last_view(folder: str) -> None:
    with pytest.raises(Unavailable) as raised:
        live_table.fetch_view(make_private_paths(folder))
    view = live_table.build_disconnected_view(TableView(head="h"), raised.value)
    assert "no daemon is running; waiting" in view.problem


def test_the_filter_is_edited_as_it_is_typed() -> None:
    state = edit_filter(TableState(is_typing=True), "bux\x7fild")
    assert (state.filter, state.is_typing) == ("build", True)
    assert edit_filter(state, "\r") == TableState(filter="build")
    assert edit_filter(state, "\x1b") == TableState()


def test_alerts_and_a_missing_recorder_are_in_the_cost(daemon: Paths) -> None:
    health = msgspec.convert(live_table.call_daemon(daemon, "health"), HealthReport)
    worse = msgspec.structs.replace(health, recorder=None, alerts=("disk \x1b[31mfull",))
    assert "no recorder" in live_table.render_cost(worse)
    assert live_table.render_cost(worse).endswith("ALERT disk full")


def test_painting_is_one_update_from_the_top_left() -> None:
    assert encode_rows(["a", "b"]) == b"\x1b[?2026h\x1b[H\x1b[Ka\x1b[0m\r\n\x1b[Jb\x1b[0m\x1b[?2026l"
    assert encode_rows([]) == b"\x1b[?2026h\x1b[H\x1b[J\x1b[0m\x1b[?2026l"


@pytest.mark.parametrize(
    ("agent", "age", "is_known"),
    [("claude_code", 2, False), ("claude_code", 11, True), (None, 2, True), (None, 1, False)],
)
async def test_the_first_table_waits_longer_for_the_state_of_an_agent(
    agent: str | None, age: int, is_known: bool
) -> None:
    listing = await call_operation(await build_sample_services(), "list_panes", {})
    assert isinstance(listing, PaneListing)
    since = "2026-01-01T00:00:00Z"
    pane = replace(
        listing.items[0], agent=agent, state="unknown", state_since=since, heard_by="pipe", activity=ActivityItem()
    )
    now = parse_timestamp(since, 0) + age * NS
    assert has_known_states(TableView(panes=(pane,)), now) == is_known
